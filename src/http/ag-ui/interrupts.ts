import type { Interrupt, ResumeEntry } from '@ag-ui/core';
import { z } from 'zod';
import type { Json } from '../../base/json.ts';
import type { RunAnswer } from '../../platform/runs/runs.ts';
import type { OpenRequest } from '../../platform/runs/snapshot.ts';
import { Refusal } from '../refusal.ts';

const SEPARATOR = ' ';

/** What a run waits for, as the page is told. The id holds what an answer is bound to, so that nothing else is answered. */
export function interruptOf(request: OpenRequest, runId: string): Interrupt {
  const { id, run, digest, kind, question, action, name, expiresAt, decisions, agentPath } = request;
  const isOwnAction = kind === 'action' && action !== undefined && request.parent === undefined && run === runId;
  return {
    id: [run, id, digest].join(SEPARATOR),
    // A call of a run below was never shown here, so that it cannot be pointed at.
    reason: kind === 'input' ? 'input_required' : isOwnAction ? 'tool_call' : 'confirmation',
    message: question,
    ...(isOwnAction && { toolCallId: action }),
    ...(expiresAt !== undefined && { expiresAt }),
    responseSchema: schemaOf(request),
    metadata: {
      treadle: {
        run,
        request: id,
        kind,
        agentPath,
        ...(name !== undefined && { tool: name, arguments: request.arguments ?? {} }),
        ...(request.plan !== undefined && { plan: request.plan }),
        decisions,
      },
    },
  };
}

function schemaOf({ kind, choices, decisions }: OpenRequest): Record<string, unknown> {
  if (kind === 'input') {
    const text = { type: 'string', ...(choices !== undefined && { enum: choices }) };
    return { type: 'object', properties: { text }, required: ['text'] };
  }
  const properties = {
    approved: { type: 'boolean' },
    ...(decisions.includes('edit') && {
      editedArgs: { type: 'object', description: 'All new arguments. They replace, and never merge.' },
    }),
    note: { type: 'string', description: 'A reason, which the agent reads.' },
  };
  return { type: 'object', properties, required: ['approved'] };
}

const approval = z.object({
  approved: z.boolean(),
  editedArgs: z.json().optional(),
  note: z.string().optional(),
});
const reply = z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]);

/** What the page says of interrupts, as answers. Nothing but a clear yes is one. Throws `answer_invalid`. */
export function answersOf(resume: readonly ResumeEntry[]): RunAnswer[] {
  return resume.map(({ interruptId, status, payload }) => {
    const [run, request, digest] = interruptId.split(SEPARATOR);
    if (run === undefined || request === undefined || digest === undefined)
      throw new Refusal('request_unknown', `No interrupt has the id ${interruptId}.`);
    const bound = { run, request, digest };
    if (status === 'cancelled') return { ...bound, decision: 'reject', note: 'The person left without an answer.' };
    const said = reply.safeParse(payload);
    if (said.success) return { ...bound, decision: 'reply', text: said.data };
    const decided = approval.safeParse(payload);
    if (!decided.success)
      throw new Refusal('answer_invalid', 'The payload of an answer is { approved, editedArgs?, note? } or { text }.');
    const { approved, editedArgs, note } = decided.data;
    const more = note === undefined ? {} : { note };
    if (!approved) return { ...bound, decision: 'reject', ...more };
    const given = editedArgs as Json | undefined; // zod's JSON is the same set, mutable
    return given === undefined
      ? { ...bound, decision: 'allow', ...more }
      : { ...bound, decision: 'edit', arguments: given, ...more };
  });
}

/** An answer has to be given to all that is open, or to nothing of it: that is the protocol's rule. */
export function checkComplete(answers: readonly RunAnswer[], open: readonly OpenRequest[]): void {
  const left = open.filter((one) => !answers.some(({ run, request }) => run === one.run && request === one.id));
  if (left.length === 0) return;
  const which = left.map((one) => one.id).join(', ');
  throw new Refusal(
    'ambiguous_request',
    `The run waits for an answer to ${which} too: \`resume\` has to name them all.`,
  );
}
