// An action that is held waits in the log, not in memory: the program may end, and another one goes on.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPlatform, openSqliteLog, statusOf, systemClock, type Platform } from '../src/index.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'treadle-'));

async function open(): Promise<Platform> {
  return createPlatform({
    bundle: path.join(import.meta.dirname, 'shop/shop.yaml'),
    environment: process.env,
    log: await openSqliteLog({ file: path.join(folder, 'treadle.db'), clock: systemClock }),
  });
}

const before = await open();
const { id } = await before.conversations.start({ agent: 'clerk' });
await before.conversations.say(id, { text: 'Order more candles.' });
console.log(statusOf(await before.conversations.drive(id)));
await before.close(); // as after a restart: nothing is left but the file

const after = await open();
const { turn } = await after.conversations.read(id);
for (const { request, question, answer } of turn?.requests ?? []) {
  if (answer !== undefined) continue;
  console.log(question);
  const fewer = { article: 'candles', boxes: 2 };
  await after.conversations.answer(id, { request, decision: 'edit', arguments: fewer, by: 'ana' });
}
const conversation = await after.conversations.drive(id);
console.log(statusOf(conversation));
console.log(conversation.turns.at(-1)?.output);
await after.close();

await rm(folder, { recursive: true });
