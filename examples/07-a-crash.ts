// The program is killed between the intent of an order and its effect. What the log says decides what may be done: an
// action that acts once is not repeated, the model is told that nobody knows, and the turn goes on to its end.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPlatform, openSqliteLog, systemClock, type Clock, type Platform } from '../src/index.ts';

async function open(folder: string, clock: Clock): Promise<Platform> {
  return createPlatform({
    bundle: path.join(import.meta.dirname, 'shop/shop.yaml'),
    environment: process.env,
    log: await openSqliteLog({ file: path.join(folder, 'treadle.db'), clock }),
    clock,
  });
}

const [, self = '', given] = process.argv;
if (given !== undefined) {
  const { bus, conversations } = await open(given, systemClock);
  // A fact is on disk before anybody hears of it, so this is the worst moment.
  bus.on('tool.invoke', ({ payload }) => {
    if (payload.effect === 'once') process.kill(process.pid, 'SIGKILL');
  });
  const { id } = await conversations.start({ agent: 'buyer' });
  await conversations.say(id, { text: 'Order more candles.' });
  await conversations.drive(id);
}

const folder = await mkdtemp(path.join(tmpdir(), 'treadle-'));
const { signal } = spawnSync(process.execPath, [self, folder]);
console.log('the first program:', signal);

// The dead program's lease runs out by itself. This one begins a minute later.
const later = await open(folder, { ...systemClock, now: () => systemClock.now() + 60_000 });
const [run] = await later.conversations.list();
const id = run?.id ?? '';
await later.conversations.drive(id);
for await (const { seq, type, payload } of later.conversations.facts(id)) {
  if (type === 'tool.result') console.log(seq, payload.action, payload.outcome);
  if (type === 'agent.turn.start' && payload.resumed === true) console.log(seq, 'goes on in another program');
  if (type === 'io.output') console.log(seq, payload.text);
}
await later.close();
await rm(folder, { recursive: true });
