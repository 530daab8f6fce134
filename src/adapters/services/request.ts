import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { ApiOperation, Parameter } from './operations.ts';

export interface ApiRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * What an operation asks for with these arguments, or in words why it cannot be asked for.
 *
 * Whatever is in the arguments, the request goes to the operation's own path under the base.
 */
export function requestOf(operation: ApiOperation, base: URL, args: JsonObject): ApiRequest | string {
  const headers: Record<string, string> = {};
  const query: string[] = [];
  let { path } = operation;
  for (const parameter of operation.parameters) {
    const value = args[parameter.key];
    if (value === undefined || value === null) continue;
    switch (parameter.in) {
      case 'path': {
        const written = inPath(parameter, value);
        if (written === undefined) return `${parameter.key} cannot be a part of a path`;
        path = path.replaceAll(`{${parameter.name}}`, () => written);
        break;
      }
      case 'query':
        query.push(...inQuery(parameter, value));
        break;
      case 'header': {
        const written = parameter.isJson ? JSON.stringify(value) : listed(value).join(',');
        if (/[^\t\x20-\x7e\x80-\xff]/.test(written)) return `${parameter.key} cannot be a header`;
        headers[parameter.name] = written;
        break;
      }
    }
  }
  if (/\{[^}]*\}/.test(path)) return `${path} is not filled in`;
  const root = base.pathname.replace(/\/$/, '');
  const url = new URL(base.origin);
  url.pathname = `${root}${path}`;
  url.search = query.join('&');
  if (url.origin !== base.origin || !url.pathname.startsWith(`${root}/`)) return 'the path leads out of the service';
  const { body } = operation;
  const given = body === undefined ? undefined : args[body.key];
  if (body === undefined || given === undefined) return { url, method: operation.method, headers, body: undefined };
  headers['content-type'] = body.mediaType;
  return { url, method: operation.method, headers, body: bodyText(body.mediaType, given) };
}

/** Undefined for what would mean another path. */
function inPath({ isJson, style, explode }: Parameter, value: Json): string | undefined {
  const parts = isJson ? [JSON.stringify(value)] : listed(value, explode);
  if (parts.some((one) => one === '' || one === '.' || one === '..')) return undefined;
  const written = parts.map((one) => encodeURIComponent(one));
  if (style === 'label') return `.${written.join(explode ? '.' : ',')}`;
  return written.join(',');
}

function inQuery({ name, isJson, style, explode }: Parameter, value: Json): readonly string[] {
  const pair = (key: string, one: string): string => `${encodeURIComponent(key)}=${encodeURIComponent(one)}`;
  if (isJson) return [pair(name, JSON.stringify(value))];
  if (isObject(value)) {
    const entries = Object.entries(value).filter(([, one]) => one !== null);
    if (style === 'deepObject') return entries.map(([key, one]) => pair(`${name}[${key}]`, plain(one)));
    return explode ? entries.map(([key, one]) => pair(key, plain(one))) : [pair(name, listed(value).join(','))];
  }
  if (!Array.isArray(value)) return [pair(name, plain(value))];
  const items = listed(value);
  if (explode) return items.map((one) => pair(name, one));
  const between = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',';
  return [pair(name, items.join(between))];
}

function listed(value: Json, explode = false): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).map(plain);
  if (!isObject(value)) return [plain(value)];
  return Object.entries(value).flatMap(([key, one]) => (explode ? [`${key}=${plain(one)}`] : [key, plain(one)]));
}

function plain(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function bodyText(mediaType: string, value: Json): string {
  if (/json/i.test(mediaType)) return JSON.stringify(value);
  if (/x-www-form-urlencoded/i.test(mediaType) && isObject(value)) {
    const form = new URLSearchParams();
    for (const [key, one] of Object.entries(value)) {
      for (const item of Array.isArray(one) ? (one as readonly Json[]) : [one]) form.append(key, plain(item));
    }
    return form.toString();
  }
  return plain(value);
}
