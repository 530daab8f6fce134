// A bundle, a platform, a conversation of two turns. What the model says is heard while it says it: such events pass
// over the bus and are not stored.
import path from 'node:path';
import { createMemoryLog, createPlatform, statusOf, systemClock } from '../src/index.ts';

const platform = await createPlatform({
  bundle: path.join(import.meta.dirname, 'shop/shop.yaml'),
  environment: process.env,
  log: createMemoryLog({ clock: systemClock }),
});

platform.bus.on('llm.stream.chunk', ({ payload: { kind, delta } }) => {
  if (kind === 'text') process.stdout.write(`${delta}|`);
});
platform.bus.on('tool.invoke', ({ payload: { name } }) => console.log(`uses ${name}`));
platform.bus.on('io.output', () => console.log());

const { id } = await platform.conversations.start({ agent: 'buyer' });
for (const text of ['How many candles are left?', 'Order more.']) {
  console.log(`> ${text}`);
  await platform.conversations.say(id, { text });
  const conversation = await platform.conversations.drive(id);
  console.log(`${statusOf(conversation)} after ${conversation.turns.at(-1)?.calls ?? 0} model calls`);
}

await platform.close();
