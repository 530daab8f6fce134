import { isObject } from '../../base/json.ts';
import { head } from '../../base/text.ts';

/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/** Fields that hold a secret by their name, wherever they stand. Numbers and booleans under such a name are not secrets. */
const SECRET_NAMES =
  /(^|[-_.])(auth|authorization|bearer|cookie|credentials?|passphrase|passwd|password|pwd|secrets?|signature|token)$|(api|access|private|signing|encryption|session|master)[-_]?key$|(authorization|cookie|credentials?|password|secret|token)$/i;

/** Texts that are a secret by their shape, wherever they stand, also inside a sentence or a URL. */
const SECRET_SHAPES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\b(bearer|basic|negotiate)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  // Ours, OpenAI, Anthropic, OpenRouter, DeepSeek, Moonshot, Stripe and others.
  [/\b[sr]k[-_][A-Za-z0-9][\w-]{7,}/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED], // Google
  [/\bya29\.[\w-]{20,}/g, REDACTED], // Google OAuth
  [/\b(xai|gsk|hf|r8|pplx|nvapi|fw|tgp|csk|dop|glpat|npm|pypi|sq0atp|shpat)[-_][A-Za-z0-9][\w-]{15,}/g, REDACTED],
  [/\b(gh[opsur]|github_pat)_\w{16,}/g, REDACTED],
  [/\bxox[abeprs]-[\w-]{8,}/g, REDACTED], // Slack
  [/\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED], // AWS
  [/\beyJ[\w-]{6,}\.[\w-]{6,}(\.[\w-]*)?/g, REDACTED], // a JSON web token
  [/(\w:\/\/)[^\s/:@]*:[^\s/@]+@/g, `$1${REDACTED}@`], // user and password of a URL
  [
    /([?&](?:access_token|api[-_]?key|auth|client_secret|code|key|password|secret|sig|signature|token|x-amz-\w+)=)[^&\s#"']+/gi,
    `$1${REDACTED}`,
  ],
  [
    /\b((?:api[-_]?key|authorization|client[-_]?secret|password|passwd|secret|token)["']?\s*[:=]\s*["']?)(?!\[redacted|bearer|basic)[^\s"',;&}]{6,}/gi,
    `$1${REDACTED}`,
  ],
];

const DEEPEST = 8;
const LONGEST_LIST = 100;
const LONGEST_TEXT_BYTES = 8_192;

export interface Redactor {
  /** A text without its secrets. */
  text(text: string): string;
  /** Fields without their secrets, as plain JSON values: errors spelled out, and what is too deep or too long cut. */
  fields(fields: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/**
 * Takes secrets out of what goes to a log, by the name of the field and by the shape of the value.
 *
 * `known` are values that are secret whatever they look like, such as keys of the environment; short ones are left alone,
 * since they would be found in half the words there are.
 */
export function createRedactor(known: readonly string[] = []): Redactor {
  const literal = [...new Set(known.filter((one) => one.length >= 8))].sort(
    (left, right) => right.length - left.length,
  );

  function text(given: string): string {
    let clean = given;
    for (const secret of literal) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
    for (const [pattern, replacement] of SECRET_SHAPES) clean = clean.replace(pattern, replacement);
    return clean.length * 3 > LONGEST_TEXT_BYTES ? shorten(clean) : clean;
  }

  function value(given: unknown, depth: number, seen: ReadonlySet<object>): unknown {
    if (typeof given === 'string') return text(given);
    if (typeof given === 'bigint') return given.toString();
    if (given === null || typeof given !== 'object') {
      return typeof given === 'function' || typeof given === 'symbol' ? given.toString().slice(0, 40) : given;
    }
    if (seen.has(given)) return '[circular]';
    if (depth > DEEPEST) return '[deeper]';
    const within = new Set(seen).add(given);
    if (given instanceof Error) return error(given, depth, within);
    if (given instanceof Date) return Number.isNaN(given.valueOf()) ? 'Invalid Date' : given.toISOString();
    if (ArrayBuffer.isView(given)) return `[${given.byteLength} bytes]`;
    if (Array.isArray(given)) {
      const items = given.slice(0, LONGEST_LIST).map((item) => value(item, depth + 1, within));
      return given.length > LONGEST_LIST ? [...items, `[${given.length - LONGEST_LIST} more]`] : items;
    }
    if (given instanceof Map) return object(Object.fromEntries<unknown>(given), depth, within);
    if (given instanceof Set) return value([...given], depth, within);
    return object(given as Record<string, unknown>, depth, within); // an object that is none of the above
  }

  function object(given: Readonly<Record<string, unknown>>, depth: number, seen: ReadonlySet<object>): object {
    const clean: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(given)) clean[name] = named(name, item, depth, seen);
    return clean;
  }

  function named(name: string, item: unknown, depth: number, seen: ReadonlySet<object>): unknown {
    const isSecret =
      SECRET_NAMES.test(name) && (typeof item === 'string' ? item !== '' : isObject(item) || Array.isArray(item));
    return isSecret ? REDACTED : value(item, depth + 1, seen);
  }

  function error(given: Error, depth: number, seen: ReadonlySet<object>): object {
    const clean: Record<string, unknown> = { name: given.name, message: text(given.message) };
    if ('code' in given && typeof given.code === 'string') clean['code'] = given.code;
    if (given.stack !== undefined) clean['stack'] = text(given.stack);
    if (given.cause !== undefined) clean['cause'] = value(given.cause, depth + 1, seen);
    return clean;
  }

  return {
    text,
    fields(fields) {
      const clean: Record<string, unknown> = {};
      for (const [name, item] of Object.entries(fields)) clean[name] = named(name, item, 0, new Set());
      return clean;
    },
  };
}

function shorten(long: string): string {
  const shown = head(long, LONGEST_TEXT_BYTES);
  return shown.length === long.length ? long : `${shown}… and ${long.length - shown.length} more characters`;
}
