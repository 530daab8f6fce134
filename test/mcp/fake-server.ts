// A tool server over stdio that behaves as badly as it is told to. Its first argument is JSON: what to do.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import process from 'node:process';

interface FakeTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: object;
}

interface Behaviour {
  /** Pages of tools. */
  readonly pages?: readonly (readonly FakeTool[])[];
  /** Every page names the same next one. */
  readonly repeatsCursor?: boolean;
  /** Pages without end, each new. */
  readonly endless?: boolean;
  /** A list that takes the place of the first once `change` was called. */
  readonly later?: readonly FakeTool[];
  readonly hangs?: 'initialize' | 'tools/list';
  readonly exits?: number;
  /** Written to the error stream first. */
  readonly says?: string;
  readonly announces?: boolean;
  readonly asksFor?: object;
}

const behaviour = JSON.parse(process.argv[2] ?? '{}') as Behaviour;
const { pages = [[]], later } = behaviour;
let hasChanged = false;
let lastId = 100;
const waiting = new Map<number, (result: Record<string, unknown>) => void>();

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function list(cursor: string | undefined): object {
  const page = Number(cursor ?? 0);
  const given = hasChanged && later !== undefined ? later : (pages[page] ?? pages[0] ?? []);
  const tools = given.map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));
  if (behaviour.endless === true)
    return { tools: [{ name: `t${page}`, inputSchema: { type: 'object' } }], nextCursor: String(page + 1) };
  if (behaviour.repeatsCursor === true) return { tools, nextCursor: '0' };
  return page + 1 < pages.length && !hasChanged ? { tools, nextCursor: String(page + 1) } : { tools };
}

const text = (said: string, more: object = {}): object => ({ content: [{ type: 'text', text: said }], ...more });

async function call(
  name: string,
  args: Record<string, unknown>,
  meta: Record<string, unknown>,
): Promise<object | undefined> {
  switch (name) {
    case 'echo':
      return text(JSON.stringify(args));
    case 'environment':
      return text(JSON.stringify(process.env));
    case 'crash':
      process.stderr.write('out of cheese\n');
      process.exit(3);
      return undefined;
    case 'hang':
      return undefined;
    case 'big':
      return text('x'.repeat(Number(args['bytes'])));
    case 'pictures':
      return {
        content: (args['bytes'] as number[]).map((bytes) => ({
          type: 'image',
          mimeType: 'image/png',
          data: 'A'.repeat(bytes),
        })),
      };
    case 'fail':
      return text('the disk is full', { isError: true });
    case 'give':
      return args['result'] as object;
    case 'change':
      hasChanged = true;
      if (behaviour.announces !== false) send({ method: 'notifications/tools/list_changed' });
      return text('changed');
    case 'progress':
      for (let step = 1; step <= 2; step++) {
        send({
          method: 'notifications/progress',
          params: { progressToken: meta['progressToken'], progress: step, total: 2, message: `step ${step}` },
        });
      }
      return text('done');
    case 'spawn': {
      const helper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      return text(String(helper.pid));
    }
    case 'ask': {
      const id = ++lastId;
      send({ id, method: 'elicitation/create', params: behaviour.asksFor });
      const answer = await new Promise<Record<string, unknown>>((resolve) => waiting.set(id, resolve));
      return answer['action'] === 'accept'
        ? text(`you said ${JSON.stringify(answer['content'])}`)
        : text(`nobody answered: ${String(answer['action'])}`, { isError: true });
    }
    default:
      throw new Error(`no tool ${name}`);
  }
}

async function answer(line: string): Promise<void> {
  const message = JSON.parse(line) as {
    id?: number;
    method?: string;
    params?: Record<string, unknown>;
    result?: Record<string, unknown>;
  };
  const { id, method, params = {} } = message;
  if (method === undefined) {
    waiting.get(id ?? 0)?.(message.result ?? { action: 'error' });
    return;
  }
  if (id === undefined || method === behaviour.hangs) {
    if (method === 'notifications/cancelled') process.stderr.write('cancelled\n');
    return;
  }
  switch (method) {
    case 'initialize': {
      send({
        id,
        result: {
          protocolVersion: params['protocolVersion'],
          capabilities: { tools: behaviour.announces === false ? {} : { listChanged: true } },
          serverInfo: { name: 'fake', version: '1' },
        },
      });
      return;
    }
    case 'tools/list': {
      send({ id, result: list(params['cursor'] as string | undefined) });
      return;
    }
    case 'tools/call':
      try {
        const meta = (params['_meta'] ?? {}) as Record<string, unknown>;
        const result = await call(String(params['name']), (params['arguments'] ?? {}) as Record<string, unknown>, meta);
        if (result !== undefined) send({ id, result });
      } catch (error) {
        send({ id, error: { code: -32602, message: String(error) } });
      }
      return;
    default: {
      send({ id, error: { code: -32601, message: `no method ${method}` } });
      return;
    }
  }
}

if (behaviour.says !== undefined) process.stderr.write(`${behaviour.says}\n`);
if (behaviour.exits !== undefined) process.exit(behaviour.exits);
process.stdout.write('this line is no message\n');
createInterface({ input: process.stdin }).on('line', (line) => void answer(line));
