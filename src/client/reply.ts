import { isObject, tryParseJson } from '../base/json.ts';
import { ClientError } from './client-error.ts';

/** Bytes of an answer that are read; more is not an answer of ours. */
export const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** The body of a good answer. Throws a ClientError for any other. */
export async function readReply(response: Response): Promise<unknown> {
  if (!response.ok) throw await readRefusal(response);
  const text = await readText(response, REPLY_BYTES_MAX);
  if (text === undefined)
    throw new ClientError('response_too_large', `The answer is larger than ${REPLY_BYTES_MAX} bytes.`, {
      status: response.status,
    });
  if (text === '') return {};
  const parsed = tryParseJson(text);
  if (!parsed.ok || !isObject(parsed.value))
    throw new ClientError('invalid_response', 'The answer is not a JSON object: is this the address of a server?');
  return parsed.value;
}

/** A refusal as an error. */
export async function readRefusal(response: Response): Promise<ClientError> {
  const { status } = response;
  const text = (await readText(response, ERROR_BYTES_MAX)) ?? '';
  const parsed = tryParseJson(text);
  const body = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const error = isObject(body['error']) ? body['error'] : {};
  const plain = typeof body['error'] === 'string' ? body['error'] : text.slice(0, 200);
  const after = error['retryAfter'] ?? retryAfterOf(response.headers);
  return new ClientError(
    wordOf(error['code']) ?? (status === 304 ? 'not_modified' : 'api_error'),
    wordOf(error['message']) ?? (plain === '' ? `The server answered ${status}.` : plain),
    {
      status,
      retryable: typeof error['retryable'] === 'boolean' ? error['retryable'] : status === 429 || status >= 500,
      retryAfter: typeof after === 'number' ? after : undefined,
      field: wordOf(error['field']),
      details: isObject(error['details']) ? error['details'] : undefined,
    },
  );
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Seconds, from a number of them or from a date, which is measured by the clock that wrote it and never by ours. */
function retryAfterOf(headers: Headers): number | undefined {
  const after = headers.get('retry-after')?.trim();
  if (after === undefined) return undefined;
  if (/^\d+$/.test(after)) return Number(after);
  const seconds = (Date.parse(after) - Date.parse(headers.get('date') ?? '')) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Text up to a number of bytes; undefined when there is more. */
async function readText(response: Response, most: number): Promise<string | undefined> {
  const reader = bytesOf(response);
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > most) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

export function bytesOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> | undefined {
  const reader: ReadableStreamDefaultReader<unknown> | undefined = body?.getReader();
  return reader as ReadableStreamDefaultReader<Uint8Array> | undefined; // a body is bytes, which its type does not say
}
