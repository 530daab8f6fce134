// A model server in a process of its own: the script, told as Anthropic's Messages stream. It tells its port to the
// process that started it and ends with it.
import { createServer, type IncomingMessage } from 'node:http';
import { isDirective, reply, usage, type Reply } from './script.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

/** Text events to one write, as a provider's packets would carry them. */
const TOGETHER = 10;
let answers = 0;

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const textOf = (content: Block['content']): string =>
  blocksOf(content ?? '')
    .map((block) => block.text ?? '')
    .join('');

const directiveOf = (content: string | readonly Block[]): string | undefined =>
  blocksOf(content).find((block) => block.type === 'text' && isDirective(block.text ?? ''))?.text;

function answer({ messages }: Body): Reply {
  const results: number[] = [];
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role !== 'user') continue;
    for (const block of blocksOf(message.content)) {
      if (block.type !== 'tool_result') continue;
      const found = /"exposure":\s*(\d+)/.exec(textOf(block.content));
      if (found !== null) results.push(Number(found[1]));
    }
    const text = directiveOf(message.content);
    if (text !== undefined) return reply(text, results, () => messages.filter((one) => isAsked(one)).length);
  }
  return { text: ['Nobody asked for anything.'] };
}

const isAsked = (message: Body['messages'][number]) =>
  message.role === 'user' && directiveOf(message.content) !== undefined;

function* writes(said: Reply): Generator<string> {
  const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const id = `msg_${++answers}`;
  const start = { id, type: 'message', role: 'assistant', model: 'scripted', content: [], stop_reason: null };
  const counted = { input_tokens: usage.input, output_tokens: 1 };
  yield event('message_start', { message: { ...start, stop_sequence: null, usage: counted } });
  if ('text' in said) {
    const open = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    const deltas = said.text.map((text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    );
    yield open;
    for (let at = 0; at < deltas.length; at += TOGETHER) yield deltas.slice(at, at + TOGETHER).join('');
    yield event('content_block_stop', { index: 0 });
  } else {
    for (const [index, call] of said.calls.entries()) {
      const content_block = { type: 'tool_use', id: call.id, name: 'calculate_exposure', input: {} };
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) };
      yield (
        event('content_block_start', { index, content_block }) +
        event('content_block_delta', { index, delta }) +
        event('content_block_stop', { index })
      );
    }
  }
  const delta = { stop_reason: 'text' in said ? 'end_turn' : 'tool_use', stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: usage.output } }) + event('message_stop', {});
}

async function read(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Body;
}

const server = createServer((request, response) => {
  void read(request).then((body) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of writes(answer(body))) response.write(text);
    response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(address.port);
});
process.on('disconnect', () => process.exit());
