// A gate is a handler of a `before:` question, and a plugin is the function that registers it. The bundle activates the
// plugin by its id and configures it; a deny is told to the model, which may try something smaller.
import path from 'node:path';
import { z } from 'zod';
import { createMemoryLog, createPlatform, definePlugin, deny, systemClock } from '../src/index.ts';

const orderCap = definePlugin({
  id: 'gate.order_cap',
  about: 'Refuses orders of more boxes than allowed.',
  config: z.strictObject({ most: z.int().min(1) }),
  setup(host, { most }) {
    host.before('before:tool.invoke', ({ tool, arguments: given }) => {
      if (tool.name !== 'order') return undefined; // nothing to say is consent
      const { boxes } = given as { boxes: number }; // valid by the tool's schema before any gate is asked
      return boxes > most ? deny(`At most ${most} boxes in one order.`, 'order_cap') : undefined;
    });
  },
});

const platform = await createPlatform({
  bundle: path.join(import.meta.dirname, 'shop/capped.yaml'),
  environment: process.env,
  log: createMemoryLog({ clock: systemClock }),
  plugins: [orderCap],
});
console.log(platform.manifests.map(({ id, gates }) => `${id}: ${gates.join(', ')}`).join('\n'));

const { id } = await platform.conversations.start();
await platform.conversations.say(id, { text: 'Order more candles.' });
await platform.conversations.drive(id);

for await (const { type, payload } of platform.conversations.facts(id)) {
  if (type === 'gate.verdict') console.log(payload.gate, 'says', payload.verdict, '-', payload.reason);
  if (type === 'tool.result') console.log(payload.action, payload.outcome);
  if (type === 'io.output') console.log(payload.text);
}

await platform.close();
