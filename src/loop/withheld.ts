import type { Observation } from '../domain/tool.ts';
import type { Judgement, Questions } from '../kernel/verdict.ts';
import { observation } from './prepared.ts';

/** The observation that counts: the tool's, a gate's revision of it, or that it was withheld. */
export function heard(judged: Judgement<Questions['before:tool.result']>): Observation {
  if (judged.outcome === 'allow') return judged.payload.observation;
  const why = judged.denial?.reason ?? judged.holds[0]?.question ?? 'refused';
  return observation('refused', judged.denial?.code ?? 'gate_denied', `The result was withheld: ${why}`);
}

/** A gate's revision is anything at all until it was looked at. The schema is loaded with the first one. */
export async function checked(revised: Observation, gate: string): Promise<Observation> {
  const { observation: schema } = await import('../domain/tool.ts');
  const found = schema.safeParse(revised);
  if (found.success) return found.data;
  return observation(
    'refused',
    'gate_invalid_revision',
    `The result was withheld: ${gate} made something of it that is not an observation`,
  );
}
