import { Client, ProtocolError, type ElicitResult } from '@modelcontextprotocol/client';
import { isObject, oneLine } from '../../base/json.ts';
import { head } from '../../base/text.ts';
import type { McpService } from '../../domain/mcp.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Opened } from './transport.ts';

/** One connection to a server, from its handshake to its end. */
export interface Link {
  readonly client: Client;
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
  readonly lastWords: () => string;
}

export interface LinkOptions {
  readonly id: string;
  readonly service: McpService;
  readonly open: () => Opened;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly onListChanged: () => void;
  readonly onElicit: (params: unknown) => ElicitResult;
  readonly onClosed: () => void;
}

/**
 * Connects, within the time that there is. Rejects with what the server or the system said.
 *
 * A child is greeted as of old, because servers exist that end at any other first word, and anew only if it refuses; over
 * HTTP the newer way is tried first, which costs one request.
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const stop = new AbortController();
  const release = options.clock.after(options.timeoutMs, () =>
    stop.abort(new Error(`no answer within ${options.timeoutMs} ms`)),
  );
  try {
    if (options.service.transport !== 'stdio') return await greet(options, 'auto', stop.signal);
    try {
      return await greet(options, 'legacy', stop.signal);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return await greet(options, 'auto', stop.signal);
    }
  } finally {
    release();
  }
}

async function greet(options: LinkOptions, mode: 'legacy' | 'auto', signal: AbortSignal): Promise<Link> {
  const { id, logger, onListChanged, onElicit, onClosed, timeoutMs } = options;
  const { transport, lastWords } = options.open();
  const client = new Client(
    { name: 'treadle', version: '0.1.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      versionNegotiation: { mode },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
    },
  );
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
    onClosed();
  };
  client.onerror = (error) => logger.debug('an MCP server said something odd', { server: id, error: error.message });
  client.setRequestHandler('elicitation/create', ({ params }) => onElicit(params));
  const close = async (): Promise<void> => {
    try {
      await client.close();
      await transport.close();
    } catch (error) {
      logger.debug('an MCP server could not be left in order', { server: id, error: String(error) });
    }
  };
  try {
    await until(client.connect(transport, { signal, timeout: timeoutMs }), signal);
    signal.throwIfAborted();
  } catch (error) {
    await close();
    throw told(error, lastWords());
  }
  if (client.getServerCapabilities()?.tools?.listChanged !== true) {
    // Some announce what they never promised to.
    client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
  }
  return { client, isOpen: () => isOpen, close, lastWords };
}

/** The promise, or the reason of the signal: a server that hangs must not hang us. */
export function until<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** An error with what a child wrote to its error stream, which mostly is the reason. A protocol error stays what it is. */
function told(error: unknown, lastWords: string): unknown {
  if (lastWords === '' || error instanceof ProtocolError) return error;
  const last = lastWords.split('\n').at(-1) ?? '';
  return new Error(`${reason(error)}; it wrote: ${head(last, 300)}`, { cause: error });
}

/** What went wrong, on one line and short: what each error on the way down adds to the one above it. */
export function reason(error: unknown): string {
  const said: string[] = [];
  let one: unknown = error;
  for (let depth = 0; one !== undefined && depth < DEEPEST; depth++) {
    const code = isObject(one) && typeof one['code'] === 'string' ? one['code'] : '';
    const message = one instanceof Error ? one.message : typeof one === 'string' ? one : '';
    const text = oneLine(message === '' ? code : message).replace(/^Version negotiation probe failed: /, '');
    if (text !== '' && !said.some((known) => known.includes(text))) said.push(text);
    one = one instanceof AggregateError ? (one.errors[0] as unknown) : one instanceof Error ? one.cause : undefined;
  }
  return head(said.join(': '), 500);
}

const DEEPEST = 5;
