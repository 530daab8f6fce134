import type { IncomingMessage } from 'node:http';
import { forbiddenKey, isTooDeep, tryParseJson, type Json } from '../base/json.ts';
import { Refusal } from './refusal.ts';

/** A message of a megabyte, and some pictures with it. */
export const BODY_BYTES_MAX = 8 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request's body as JSON, or undefined where there is none. Throws `body_too_large`, `unsupported_media_type`, `invalid_request`. */
export async function readJson(incoming: IncomingMessage): Promise<Json | undefined> {
  const { headers } = incoming;
  const announced = headers['content-length'];
  if (announced === '0' || (announced === undefined && headers['transfer-encoding'] === undefined)) return undefined;
  if (Number(announced) > BODY_BYTES_MAX) throw tooLarge();
  const bytes = await readBytes(incoming);
  if (bytes.length === 0) return undefined;
  refuseOtherTypes(headers['content-type'], headers['content-encoding']);
  return parsed(textOf(bytes));
}

function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_BYTES_MAX) {
        incoming.pause();
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    incoming.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    const cut = (): void => reject(new Refusal('invalid_request', 'The body was cut off.', { field: 'body' }));
    incoming.on('error', cut);
    incoming.on('close', cut); // means nothing after the end
  });
}

function tooLarge(): Refusal {
  // Whatever is still under way would be taken for the next request.
  return new Refusal('body_too_large', `A body may have ${BODY_BYTES_MAX} bytes.`, {
    headers: { connection: 'close' },
  });
}

function refuseOtherTypes(type = '', encoding = 'identity'): void {
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((one) => one.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (media !== 'application/json' || (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8'))
    throw new Refusal('unsupported_media_type', 'Send the body as `Content-Type: application/json`, in UTF-8.');
  if (encoding !== 'identity')
    throw new Refusal('unsupported_media_type', 'Send the body without a `Content-Encoding`.');
}

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('is not UTF-8');
  }
}

function parsed(text: string): Json {
  const result = tryParseJson(text);
  if (!result.ok) throw malformed(`is not JSON: ${result.problem}`);
  if (isTooDeep(result.value)) throw malformed('is nested too deep');
  const key = forbiddenKey(result.value);
  if (key !== undefined) throw malformed(`has a key that no object may have, at ${key}`);
  return result.value;
}

function malformed(what: string): Refusal {
  return new Refusal('invalid_request', `The body ${what}.`, { field: 'body' });
}
