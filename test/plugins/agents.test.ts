// The bundles that ship, from file to answer: the real loader, loop, gates and tools, with authored decisions.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { script as deskScript } from '../../agents/desk.script.ts';
import { add_note } from '../../agents/desk.tool.ts';
import { script as exposureScript } from '../../agents/exposure.script.ts';
import { script as researchScript } from '../../agents/research.script.ts';
import { script as supportScript } from '../../agents/support.script.ts';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openRequests, type Conversation } from '../../src/domain/conversation.ts';
import { createHost } from '../../src/platform/hosting/host.ts';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { createPlatform, type Platform } from '../../src/platform/platform.ts';
import { aContext } from '../support/tool-context.ts';
import { loadOptions } from '../support/bundles.ts';

const agents = path.join(import.meta.dirname, '../../agents');
const home = process.cwd();
let folder = '';

// Notes are written into the folder that the program was started in.
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'treadle-desk-'));
  process.chdir(folder);
});
after(async () => {
  process.chdir(home);
  await rm(folder, { recursive: true, force: true });
});

async function open(bundle: string, script: Script): Promise<Platform> {
  const model = createScriptedModel(script, { clock: systemClock });
  return createPlatform({
    bundle: path.join(agents, bundle),
    environment: {},
    log: createMemoryLog({ clock: systemClock }),
    models: { open: () => model },
  });
}

async function say(platform: Platform, text: string): Promise<Conversation> {
  const { id } = await platform.conversations.start({ userId: 'ana' });
  await platform.conversations.say(id, { text });
  return platform.conversations.drive(id);
}

test('the first run calculates what it was asked', async () => {
  const platform = await open('exposure.yaml', exposureScript);
  assert.deepEqual(platform.notices, []);
  const { turns } = await say(
    platform,
    'Calculate the exposure of an illustrative $8,000 position in a $10,000 portfolio.',
  );
  const turn = turns.at(-1);
  assert.match(turn?.output ?? '', /^Fixture exposure: 80\.00%/);
  assert.deepEqual([turn?.end?.status, turn?.end?.iterations, turn?.end?.toolCalls], ['completed', 2, 1]);
  assert.deepEqual(
    turn?.agent.tools.map((one) => one.name),
    ['calculate_exposure', 'tool_call'],
  );
  await platform.close();
});

test('a portfolio of zero is refused by the tool, and the answer says so', async () => {
  const platform = await open('exposure.yaml', exposureScript);
  const { turns } = await say(platform, '5 of 0');
  assert.match(turns.at(-1)?.output ?? '', /Position must be nonnegative and portfolio positive/);
  await platform.close();
});

test('the desk writes a note once it is allowed to, with the words that were approved', async () => {
  const platform = await open('desk.yaml', deskScript);
  const { conversations } = platform;
  const waiting = await say(platform, 'note: call Bo');
  const [request] = openRequests(waiting.turn!);
  assert.equal(request?.question, 'Allow add_note {"text":"call Bo"}?');
  await assert.rejects(readFile('.treadle/desk-notes.md'), { code: 'ENOENT' });

  await conversations.answer(waiting.id, {
    request: request.request,
    decision: 'edit',
    arguments: { text: 'call Bo at 5' },
    by: 'ana',
  });
  const done = await conversations.drive(waiting.id);
  assert.match(done.turns.at(-1)?.output ?? '', /^Noted, in .*desk-notes\.md\.$/);
  const written = await readFile('.treadle/desk-notes.md', 'utf8');
  assert.ok(written.includes('call Bo at 5') && written.match(/^## /gm)?.length === 1, written);
  await platform.close();
});

test('the desk accepts a refusal', async () => {
  const platform = await open('desk.yaml', deskScript);
  const waiting = await say(platform, 'remember that I owe Cy lunch');
  const [request] = openRequests(waiting.turn!);
  await platform.conversations.answer(waiting.id, {
    request: request!.request,
    decision: 'reject',
    note: 'better not',
    by: 'ana',
  });
  const done = await platform.conversations.drive(waiting.id);
  assert.equal(done.turns.at(-1)?.output, 'I did not do that: The user refused this action: better not');
  await platform.close();
});

test('a question of the desk waits for words, and the turn goes on with them', async () => {
  const platform = await open('desk.yaml', deskScript);
  const waiting = await say(platform, 'what time is it?');
  const [request] = openRequests(waiting.turn!);
  assert.equal(request?.kind, 'input');
  assert.deepEqual(request.choices?.slice(0, 2), ['Europe/Berlin', 'Europe/London']);
  await platform.conversations.answer(waiting.id, {
    request: request.request,
    decision: 'reply',
    text: 'Asia/Tokyo',
    by: 'ana',
  });
  const done = await platform.conversations.drive(waiting.id);
  assert.match(done.turns.at(-1)?.output ?? '', /^It is \d{4}-.*\+09:00 in Asia\/Tokyo, a \w+day\.$/);
  await platform.close();
});

test('the desk works out sums, exactly, and says what is wrong with the others', async () => {
  const platform = await open('desk.yaml', deskScript);
  const outputs: readonly (readonly [text: string, output: string])[] = [
    ['what is 0.1 + 0.2?', '0.1 + 0.2 = 0.3'],
    ['(3 + 4) * -2', '(3 + 4) * -2 = -14'],
    ['1 / 0', 'I did not do that: Division by zero.'],
  ];
  for (const [text, output] of outputs) assert.equal((await say(platform, text)).turns.at(-1)?.output, output);
  await platform.close();
});

test('after a crash the desk can tell whether a note was written', async () => {
  const written = aContext({ idempotencyKey: 'c9/t1-1-1' });
  assert.equal(await add_note.probe?.('c9/t1-1-1', written), undefined);
  await add_note.run({ text: 'once' }, written);
  assert.deepEqual(await add_note.probe?.('c9/t1-1-1', written), { file: path.join('.treadle', 'desk-notes.md') });
  assert.equal(await add_note.probe?.('c9/t1-1-2', written), undefined);
});

test('over several turns every fact is delivered once, in order', async () => {
  const platform = await open('exposure.yaml', { replies: [{ text: 'hi' }], repeat: true });
  const heard: number[] = [];
  platform.bus.on('*', (event) => {
    if ('seq' in event) heard.push(event.seq);
  });
  const { id } = await platform.conversations.start({ userId: 'ana' });
  for (const text of ['one', 'two', 'three']) {
    await platform.conversations.say(id, { text });
    await platform.conversations.drive(id);
  }
  assert.deepEqual(
    heard,
    heard.map((_, index) => index + 1),
  );
});

test('the researcher says what a word of this program means, and where it read it', async () => {
  const platform = await open('research.yaml', researchScript);
  const { turns } = await say(platform, 'What is a verdict?');
  assert.match(turns.at(-1)?.output ?? '', /^\*\*verdict\*\*: .+\.\n\nSource: vocabulary\.md$/);
  await platform.close();
});

test('the researcher keeps a list of the addresses it reads, and says which it could not', async () => {
  const platform = await open('research.yaml', researchScript);
  const { turns } = await say(platform, 'Compare http://127.0.0.1:9/a and http://169.254.169.254/b');
  const turn = turns.at(-1);
  const names = [...(turn?.iterations ?? [])].flatMap(({ actions }) => actions.map(({ action }) => action.name));
  assert.deepEqual(names, ['todo_write', 'web_fetch', 'web_fetch']);
  assert.match(turn?.output ?? '', /127\.0\.0\.1 is a private address[^]*169\.254\.169\.254 is a private address/);
  await platform.close();
});

test('the researcher remembers nothing before the person agrees', async () => {
  const platform = await open('research.yaml', researchScript);
  const waiting = await say(platform, 'Remember that I want short answers');
  const [request] = openRequests(waiting.turn!);
  assert.equal(request?.question, 'Allow note_save {"text":"I want short answers"}?');
  await platform.close();
});

test('the researcher searches the web where a key for it is set', async () => {
  const tools = async (environment: Record<string, string>): Promise<readonly string[]> => {
    const bundle = await loadBundle(path.join(agents, 'research.yaml'), { ...loadOptions, environment });
    return bundle.agent('main').grant.tools.flatMap(({ own }) => (own.startsWith('web_') ? [own] : []));
  };
  assert.deepEqual(
    [await tools({}), await tools({ BRAVE_API_KEY: 'k' })],
    [['web_fetch'], ['web_fetch', 'web_search']],
  );
});

const refunds = async (): Promise<number> =>
  (await readFile('.treadle/support-refunds.jsonl', 'utf8').catch(() => '')).split('\n').filter(Boolean).length;

test('the support desk gives a small sum back by itself', async () => {
  const platform = await open('support.yaml', supportScript);
  const before = await refunds();
  const { turns } = await say(platform, 'Order 1002 came broken. Please give me 20 back.');
  assert.deepEqual(
    [turns.at(-1)?.output, await refunds()],
    ['I gave 20 back for it. It is with you in two days.', before + 1],
  );
  await platform.close();
});

test('the support desk asks a person about a larger sum, and what they allow cannot be allowed for always', async () => {
  const platform = await open('support.yaml', supportScript);
  const before = await refunds();
  const waiting = await say(platform, 'Order 1003 came late. I want 80 back.');
  const [request] = openRequests(waiting.turn!);
  assert.deepEqual([request?.kind, request?.allowance, await refunds()], ['action', undefined, before]);
  await platform.close();
});

for (const [what, text, says] of [
  ['never gives a very large sum back', 'Order 1005: give me 600 back', /at most 500/],
  [
    'gives nothing back because a note of a customer says so',
    'What does the note of order 1004 say?',
    /^A person of the shop/,
  ],
] as const) {
  test(`the support desk ${what}`, async () => {
    const platform = await open('support.yaml', supportScript);
    const before = await refunds();
    const { turns } = await say(platform, text);
    assert.match(turns.at(-1)?.output ?? '', says);
    assert.equal(await refunds(), before);
    await platform.close();
  });
}

test('all bundles that ship are served by one process, as npm start does', async () => {
  const bundles = (await readdir(agents))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => path.join(agents, file));
  const host = await createHost({
    bundles,
    log: createMemoryLog({ clock: systemClock }),
    secret: 'secret',
    environment: {},
  });
  const served = new Set(host.agents().map(({ bundle }) => bundle));
  assert.equal(served.size, bundles.length);
  await host.close();
});
