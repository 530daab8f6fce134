import { isObject, type Json } from '../../base/json.ts';
import { plainText } from '../../domain/plain-text.ts';
import type { ToolMessageResult } from '../../domain/model.ts';
import type { Reply, ScriptView } from './script.ts';

const TEMPLATE = /\{\{\s*([^{}|]+?)\s*(?:\|\s*(fixed\s+\d{1,2}|number|json)\s*)?\}\}/g;
const WHOLE = new RegExp(`^${TEMPLATE.source}$`);

/** True when the reply has a template anywhere: others are compiled once and used for ever. */
export function hasTemplate(reply: Reply): boolean {
  return JSON.stringify(reply).includes('{{');
}

/** The reply with every template of its texts and arguments filled in. What a template does not find is empty text or null. */
export function fillReply(reply: Reply, view: ScriptView, match: RegExpExecArray | undefined): Reply {
  const fill = (text: string) => text.replace(TEMPLATE, (_, path: string, format?: string) => show(find(path), format));
  const find = (path: string): unknown => lookUp(path, view, match);
  const fillJson = (value: Json): Json => {
    if (typeof value === 'string') {
      const whole = WHOLE.exec(value);
      return whole === null ? fill(value) : formatted(find(whole[1] ?? ''), whole[2]);
    }
    if (Array.isArray(value)) return (value as readonly Json[]).map(fillJson);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillJson(item)]));
  };
  return {
    ...reply,
    ...(reply.text !== undefined && { text: fill(reply.text) }),
    ...(typeof reply.thinking === 'string' && { thinking: fill(reply.thinking) }),
    ...(Array.isArray(reply.chunks) && { chunks: reply.chunks.map(fill) }),
    ...(reply.actions !== undefined && {
      actions: reply.actions.map((action) => ({
        ...action,
        ...(action.arguments !== undefined && { arguments: fillJson(action.arguments) }),
        ...(action.input !== undefined && { input: fill(action.input) }),
      })),
    }),
  };
}

/** An observation as templates and scripts see it, in the words of the wire. */
function seen({ observation }: ToolMessageResult): Record<string, unknown> {
  const ok = observation.outcome === 'ok';
  const text = observation.content === undefined ? undefined : plainText(observation.content);
  return { ok, ret: observation.value ?? text ?? null, error: observation.error ?? null };
}

function lookUp(path: string, view: ScriptView, match: RegExpExecArray | undefined): unknown {
  const [head, ...rest] = path.split('.');
  switch (head) {
    case 'user':
      return view.userText;
    case 'match': {
      const key = rest[0] ?? '0';
      return match?.groups !== undefined && Object.hasOwn(match.groups, key) ? match.groups[key] : match?.[Number(key)];
    }
    case 'last': {
      const last = view.results.at(-1);
      return last === undefined ? undefined : walk(seen(last), rest);
    }
    case 'results':
      return walk(view.results.map(seen), rest);
    default:
      return undefined;
  }
}

function walk(from: unknown, path: readonly string[]): unknown {
  let value = from;
  for (const key of path) {
    if (Array.isArray(value)) value = (value as readonly unknown[])[Number(key)];
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

function formatted(value: unknown, format: string | undefined): Json {
  if (value === undefined || value === null) return null;
  if (format === undefined) return value as Json; // from the request, whose values are JSON
  if (format === 'json') return JSON.stringify(value);
  const number = typeof value === 'number' ? value : Number(show(value, undefined).replaceAll(/[,_\s]/g, ''));
  return format === 'number' ? number : number.toFixed(Number(format.slice('fixed'.length)));
}

function show(value: unknown, format: string | undefined): string {
  const result = formatted(value, format);
  if (result === null) return '';
  return typeof result === 'object' ? JSON.stringify(result) : String(result);
}
