import { canonicalJson, type Json } from '../base/json.ts';
import { forModels, type Part } from '../domain/content.ts';
import { isBlank } from '../base/text.ts';
import type { Observation } from '../domain/tool.ts';

/**
 * An observation as the model reads it: `{"ok":true,"ret":…}` or `{"error":{"code","message"},"ok":false}`, canonical,
 * so that the same result is the same bytes in the cache.
 *
 * `note` is something the model must know about the action itself, such as that a person changed its arguments.
 */
export function observationText(observation: Observation, note?: string): string {
  const body: Record<string, Json> = { ok: observation.outcome === 'ok' };
  if (observation.value !== undefined) body['ret'] = observation.value;
  if (observation.error !== undefined)
    body['error'] = { code: observation.error.code, message: observation.error.message };
  if (observation.ref !== undefined)
    body['cut'] = { bytes: observation.size ?? null, read_rest_with: `context_read ${observation.ref}` };
  if (note !== undefined) body['note'] = note;
  return canonicalJson(body);
}

/** The whole observation as parts: its text first, then what the tool returned as parts, nothing empty. */
export function observationParts(observation: Observation, note?: string): readonly Part[] {
  const shown = (observation.content ?? []).filter((one) => one.type !== 'text' || !isBlank(one.text));
  const bare =
    observation.outcome === 'ok' &&
    observation.value === undefined &&
    observation.ref === undefined &&
    note === undefined;
  if (bare && shown.length > 0) return shown;
  return [{ type: 'text', text: observationText(observation, note) }, ...shown];
}

/** An observation without what is in it for people alone. */
export function shownToModels(observation: Observation): Observation {
  if (observation.content === undefined) return observation;
  const content = forModels(observation.content);
  if (content === observation.content) return observation;
  const { content: _, ...rest } = observation;
  return content.length === 0 ? rest : { ...rest, content: [...content] };
}
