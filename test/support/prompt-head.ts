// Prints what a model is sent before the conversation, for one user on one day: run as a process of its own.
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { sha256 } from '../../src/base/digest.ts';
import { canonicalJson, toJson } from '../../src/base/json.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import { createPlatform } from '../../src/platform/platform.ts';
import { wireBody } from './wire.ts';

const [, , bundle = '', userId = '', day = '0'] = process.argv;
const clock = { now: () => Number(day) * 86_400_000, after: () => () => undefined };
const platform = await createPlatform({ bundle, environment: {}, log: createMemoryLog({ clock }), clock });
let seen: ModelRequest | undefined;
platform.bus.before('before:llm.request', ({ request }) => void (seen ??= request));
const { id } = await platform.conversations.start({ userId });
await platform.conversations.say(id, { text: 'hi' });
await platform.conversations.drive(id);
await platform.close();
if (seen === undefined) throw new Error('no model was called');
const { system, tools } = (await wireBody('anthropic', seen)) as Record<string, unknown>;
process.stdout.write(sha256(canonicalJson(toJson([system, tools]))));
