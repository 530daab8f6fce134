// The ruler: a loop with no features. It calls the model, runs the tool and appends; nothing useful can be as cheap.
// The bare log stores each message as a row, with one transaction for each model call.
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { exposure, instructions, reply, toolDescription, toolNames, type Call, type Reply } from './script.ts';
import type { Subject, SubjectOptions } from './subject.ts';

type Message =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: readonly Call[] }
  | { role: 'tool'; id: string; name: string; result: string };

type CallModel = (messages: readonly Message[], onDelta?: (text: string) => void) => Promise<Reply>;

export async function create(options: SubjectOptions): Promise<Subject> {
  const { baseUrl } = options;
  const callModel = baseUrl === undefined ? scripted(options.latencyMs) : overHttp(baseUrl, options.tools);
  const log = options.log && bareLog(options.log);
  const conversations = new Map<string, Message[]>();

  const tool = async (call: Call): Promise<Message> => {
    options.onTool();
    return { role: 'tool', id: call.id, name: 'calculate_exposure', result: JSON.stringify(exposure(call.arguments)) };
  };

  async function run(text: string, conversation?: string, onDelta?: (text: string) => void): Promise<string> {
    const messages = (conversation !== undefined && conversations.get(conversation)) || [];
    if (conversation !== undefined) conversations.set(conversation, messages);
    const name = conversation ?? (log && randomUUID());
    let stored = messages.length;
    messages.push({ role: 'user', text });
    for (;;) {
      const answer = await callModel(messages, onDelta);
      const said = 'text' in answer ? answer.text.join('') : '';
      const calls = 'calls' in answer ? answer.calls : [];
      messages.push({ role: 'assistant', text: said, calls });
      if (log !== undefined && name !== undefined) stored = log.append(name, messages, stored);
      if (calls.length === 0) return said;
      for (const message of await Promise.all(calls.map(tool))) messages.push(message);
    }
  }

  return {
    run: (turn) => run(turn.text, turn.conversation),
    stream: (turn, onDelta) => run(turn.text, turn.conversation, onDelta),
    close: () => log?.close(),
  };
}

function scripted(latencyMs: number): CallModel {
  return async (messages, onDelta) => {
    if (latencyMs > 0) await sleep(latencyMs);
    let at = messages.length - 1;
    const results: number[] = [];
    for (; messages[at]?.role !== 'user'; at--) {
      const message = messages[at];
      if (message?.role === 'tool') results.push((JSON.parse(message.result) as { exposure: number }).exposure);
    }
    const answer = reply((messages[at] as { text: string }).text, results, () => users(messages));
    if (onDelta !== undefined && 'text' in answer) for (const piece of answer.text) onDelta(piece);
    return answer;
  };
}

const users = (messages: readonly Message[]) => messages.filter((message) => message.role === 'user').length;

function bareLog({ file, sync }: { file: string; sync: string }) {
  const database = new DatabaseSync(file);
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${sync}`);
  database.exec(
    'create table log (conversation text, seq int, at int, body text, primary key (conversation, seq)) without rowid',
  );
  const insert = database.prepare('insert into log values (?, ?, ?, ?)');
  const [begin, commit] = [database.prepare('begin immediate'), database.prepare('commit')];
  return {
    append(conversation: string, messages: readonly Message[], from: number): number {
      begin.run();
      for (let seq = from; seq < messages.length; seq++)
        insert.run(conversation, seq, Date.now(), JSON.stringify(messages[seq]));
      commit.run();
      return messages.length;
    },
    close: () => database.close(),
  };
}

// ── The same model over HTTP, as Anthropic's Messages ────────────────────────────────────────────────────────────

interface StreamEvent {
  readonly type: string;
  readonly content_block?: { readonly type: string; readonly id: string };
  readonly delta?: { readonly text?: string; readonly partial_json?: string };
}

function overHttp(baseUrl: string, toolCount: number): CallModel {
  const properties = { price: { type: 'number' }, quantity: { type: 'number' } };
  const input_schema = { type: 'object', properties, required: ['price', 'quantity'] };
  const tools = toolNames(toolCount).map((name) => ({ name, description: toolDescription, input_schema }));
  const headers = { 'content-type': 'application/json', 'x-api-key': 'none', 'anthropic-version': '2023-06-01' };
  return async (messages, onDelta) => {
    const body = { model: 'scripted', max_tokens: 4096, stream: true, system: instructions, tools };
    const response = await fetch(`${baseUrl}/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...body, messages: wire(messages) }),
    });
    const text: string[] = [];
    const calls: Call[] = [];
    for await (const event of events(response)) {
      if (event.content_block?.type === 'tool_use') calls.push({ id: event.content_block.id, arguments: none });
      const { delta } = event;
      if (delta?.text !== undefined) {
        text.push(delta.text);
        onDelta?.(delta.text);
      }
      if (delta?.partial_json !== undefined) {
        calls.push({ id: calls.pop()?.id ?? '', arguments: JSON.parse(delta.partial_json) as Call['arguments'] });
      }
    }
    return calls.length > 0 ? { calls } : { text };
  };
}

const none = { price: 0, quantity: 0 };

function wire(messages: readonly Message[]): object[] {
  const out: { role: string; content: object[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (out.at(-1)?.role !== role) out.push({ role, content: [] });
    const { content } = out.at(-1)!;
    if (message.role === 'tool')
      content.push({ type: 'tool_result', tool_use_id: message.id, content: message.result });
    else if (message.text !== '') content.push({ type: 'text', text: message.text });
    if (message.role !== 'assistant') continue;
    for (const call of message.calls) {
      content.push({ type: 'tool_use', id: call.id, name: 'calculate_exposure', input: call.arguments });
    }
  }
  return out;
}

async function* events(response: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body!) {
    const blocks = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield JSON.parse(block.slice(block.indexOf('\ndata: ') + 7)) as StreamEvent;
  }
}
