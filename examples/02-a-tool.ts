// A tool is in shop/stock.tool.ts: a name, a schema, what a repetition would do to the world, and a function.
// Here an agent uses it, and the log tells the intent before the effect, and then the one observation.
import path from 'node:path';
import { createMemoryLog, createPlatform, systemClock } from '../src/index.ts';

const platform = await createPlatform({
  bundle: path.join(import.meta.dirname, 'shop/shop.yaml'),
  environment: process.env,
  log: createMemoryLog({ clock: systemClock }),
});

const { id } = await platform.conversations.start();
await platform.conversations.say(id, { text: 'How many candles are left?' });
await platform.conversations.drive(id);

for await (const { type, payload } of platform.conversations.facts(id)) {
  if (type === 'tool.invoke') console.log('intent ', payload.name, JSON.stringify(payload.arguments), payload.effect);
  if (type === 'tool.result') console.log('outcome', payload.outcome, JSON.stringify(payload.value));
  if (type === 'io.output') console.log('answer ', payload.text);
}

await platform.close();
