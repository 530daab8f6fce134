import { canonicalJson, type Json } from '../../base/json.ts';
import type { Observation } from '../../domain/tool.ts';

/**
 * The text of an observation as the model reads it: `{"ok":true,"ret":…}` or `{"error":{…},"ok":false}`, canonical, so
 * that the same observation is the same bytes in every request. What the tool returned as parts follows beside it.
 */
export function observationText({ outcome, value, content, error, size, ref }: Observation): string {
  const wire: Record<string, Json> = { ok: outcome === 'ok' };
  if (error !== undefined) wire['error'] = error;
  if (value !== undefined) wire['ret'] = value;
  else if (outcome === 'ok' && content === undefined) wire['ret'] = null;
  if (size !== undefined) wire['size'] = size;
  if (ref !== undefined) wire['ref'] = ref;
  return canonicalJson(wire);
}
