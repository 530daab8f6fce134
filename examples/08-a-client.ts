// A run lives on a server. Whoever reads it may answer what it waits for, from anywhere, and may leave at any time.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { createClient } from '../src/client/index.ts'; // from a program of yours: 'treadle/client'

const main = path.join(import.meta.dirname, '../src/cli/main.ts');
const shop = path.join(import.meta.dirname, 'shop/shop.yaml');
const server = spawn(process.execPath, [main, 'serve', shop, '--port', '0', '--memory', '--log-level', 'silent']);
let url = '';
for await (const line of createInterface({ input: server.stdout })) {
  url = /listens on (\S+)/.exec(line)?.[1] ?? '';
  if (url !== '') break;
}

const client = createClient({ url });
const run = await client.create({ agent: 'clerk', prompt: 'Order more candles.' });
for await (const event of run) {
  // Handed out when it is new, and again whenever it has changed.
  if (event.type === 'entry' && event.entry.text === 'order: ok') console.log('the order was placed');
  if (event.type !== 'request') continue;
  console.log(event.request.question);
  await run.edit(event.request, { article: 'candles', boxes: 2 }, { note: 'Two will do.' });
}
console.log((await run.snapshot()).answer);

// In another process: the same run, from where this one has read to.
const again = client.run(run.id, { cursor: run.cursor });
await again.say('How many candles are left?');
for await (const event of again)
  if (event.type === 'entry' && event.entry.role === 'assistant') console.log(event.entry.text);

server.kill();
