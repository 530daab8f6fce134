import { assert } from '../../base/assert.ts';
import { digest } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { isObject, tryParseJson, type Json } from '../../base/json.ts';
import { facts, type Draft, type FactPayload, type FactType } from '../../domain/event.ts';
import { upcast, upcasters, type Upcasters } from './upcast.ts';

/** A payload as the text that is stored. Refuses one that could not be read back: a log must never be its own end. */
export function payloadText({ type, payload }: Draft): string {
  const problem = problemOf(type, payload);
  assert(problem === undefined, `a ${type} that does not fit its schema was stated: ${problem ?? ''}`);
  return JSON.stringify(type === 'tool.invoke' ? withoutHash(payload) : payload);
}

/**
 * A stored payload, checked and brought up to the present version.
 *
 * A type that this version does not know is kept as it is, for the fold passes over it. `place` says whose payload it is.
 */
export function payloadOf(
  type: string,
  v: number,
  text: string,
  place: () => string,
  steps: Upcasters = upcasters,
): Json {
  const parsed = tryParseJson(text);
  if (!parsed.ok) throw corrupt(place(), 'a payload that is not JSON', parsed.problem);
  if (!isKnown(type)) return parsed.value;
  const present = facts[type].v;
  if (v > present) {
    throw new TreadleError('log_version', {
      place: place(),
      found: `version ${v} of ${type}`,
      wanted: `version ${present} or older`,
      hint: 'update Treadle',
    });
  }
  const whole = type === 'tool.invoke' ? withHash(parsed.value) : parsed.value;
  const payload = v === present ? whole : upcast(type, whole, v, present, steps);
  if (payload === undefined) throw corrupt(place(), `version ${v} of ${type}`, 'nothing reads that version');
  const problem = problemOf(type, payload);
  if (problem !== undefined) throw corrupt(place(), `a payload that is not one of ${type}`, problem);
  return payload;
}

export function corrupt(place: string, found: string, why: string): TreadleError {
  return new TreadleError('log_corrupt', {
    place,
    found,
    wanted: 'what was once stated',
    hint: `${why}; restore the log from a backup`,
  });
}

// An argument hash is as long as most arguments and follows from them, so it is left out and worked out again.

function withoutHash(payload: FactPayload<'tool.invoke'>): unknown {
  const { argumentHash, ...rest } = payload;
  return digest(payload.arguments) === argumentHash ? rest : payload;
}

function withHash(payload: Json): Json {
  if (!isObject(payload) || 'argumentHash' in payload || payload['arguments'] === undefined) return payload;
  return { ...payload, argumentHash: digest(payload['arguments']) };
}

function isKnown(type: string): type is FactType {
  return Object.hasOwn(facts, type);
}

function problemOf(type: FactType, payload: unknown): string | undefined {
  try {
    const issue = facts[type].payload.safeParse(payload).error?.issues[0];
    return issue === undefined ? undefined : `${['payload', ...issue.path].join('.')}: ${issue.message}`;
  } catch (problem) {
    // JSON that is thousands of levels deep overflows the check and not the parser. It was stated, so it must be read.
    if (problem instanceof RangeError) return undefined;
    throw problem;
  }
}
