// Everything that happens is an event. Facts have a number and are stored; the others pass and are forgotten.
import path from 'node:path';
import { createMemoryLog, createPlatform, systemClock } from '../src/index.ts';

const platform = await createPlatform({
  bundle: path.join(import.meta.dirname, 'shop/shop.yaml'),
  environment: process.env,
  log: createMemoryLog({ clock: systemClock }),
});

const heard: number[] = [];
platform.bus.on('*', (event) => {
  if ('seq' in event) heard.push(event.seq);
  console.log('seq' in event ? String(event.seq).padStart(2) : ' -', event.type);
});

const { id } = await platform.conversations.start({ agent: 'buyer' });
await platform.conversations.say(id, { text: 'How many candles are left?' });
await platform.conversations.drive(id);

// A listener that was asleep reads the log instead, and misses no fact.
const stored: number[] = [];
for await (const { seq } of platform.conversations.facts(id)) stored.push(seq);
console.log(stored.join() === heard.join() ? 'heard all that is stored' : 'missed something');

await platform.close();
