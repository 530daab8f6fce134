import { TreadleError } from '../../base/errors.ts';
import type { Draft, Fact } from '../../domain/event.ts';
import { FACT_VERSIONS } from '../../domain/event-types.ts';
import type { Carried } from '../../kernel/log.ts';

/** A fact as it was drafted. Throws `log_version` for one that only a newer version knows: it could not be stated here. */
export function draftOf(fact: Fact, key: string | undefined): Carried['facts'][number] {
  const { id, type, at, payload, turnId, iteration, causedBy, source } = fact;
  if (!Object.hasOwn(FACT_VERSIONS, type))
    throw new TreadleError('log_version', { place: id, found: `a fact of type ${type}`, hint: 'update Treadle' });
  return { at, draft: { type, payload, turnId, iteration, causedBy, source, key } as Draft }; // a fact pairs them
}
