// What an agent remembers of a person from one conversation to the next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryNotes } from '../../src/adapters/stores/notes/memory.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { NoteStore } from '../../src/kernel/notes.ts';
import type { Caller } from '../../src/platform/runs/caller.ts';
import { aNote } from '../conformance/notes.ts';
import { aCaller, ana, withHost, type HostFixture } from './a-host.ts';

const bundle = (traits: string): string => `
id: desk@1
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: notes, kind: module, module: builtin/notes${traits} }
models:
  balanced: { provider: scripted, model: scripted }
`;
const never = ', tool_traits: { note_save: { approval: never }, note_delete: { approval: never } }';
const trusting = bundle(never);
const owner = { tenant: 'local', userId: 'ana', bundle: 'desk@1' };

interface Told {
  readonly announce: string;
  readonly results: readonly JsonObject[];
}

/** Says something in a new conversation and waits for its end: what the first call was told, and what tools gave. */
async function say({ host, log, until }: HostFixture, caller: Caller = ana): Promise<Told> {
  const { run } = await host.runs.create(caller, { prompt: 'Hello.' });
  await until(run.id, ({ statusKind }) => statusKind !== 'working');
  const facts = await log.read(run.id, 0, 1_000);
  const first = facts.find((one) => one.type === 'llm.request');
  return {
    announce: first?.payload.announce ?? '',
    results: facts.flatMap((one) =>
      one.type === 'tool.result'
        ? [{ ...(one.payload.error ?? {}), ...(one.payload.value as JsonObject | undefined) }]
        : [],
    ),
  };
}

const call = (name: string, args: JsonObject) => [{ actions: [{ name, arguments: args }] }, { text: 'Done.' }];
const save = call('note_save', { text: 'Ana drinks green tea.' });

test('what was saved in one conversation is known in the next one of the same person', () =>
  withHost({ bundle: trusting, script: [...save, { text: 'Hello.' }] }, async (fixture) => {
    await say(fixture);
    const { announce } = await say(fixture);
    assert.match(announce, /\[MEMORY\]\n- \(n_[0-9a-f]{10}\) Ana drinks green tea\.$/);
  }));

test('another person is told nothing of it', () =>
  withHost({ bundle: trusting, script: [...save, { text: 'Hello.' }] }, async (fixture) => {
    await say(fixture);
    const { announce } = await say(fixture, aCaller({ userId: 'bo' }));
    assert.doesNotMatch(announce, /MEMORY|tea/);
  }));

test('nothing is kept without a word of the person, unless the operator says otherwise', () =>
  withHost({ bundle: bundle(''), script: save }, async (fixture) => {
    const { run } = await fixture.host.runs.create(ana, { prompt: 'Hello.' });
    const { status } = await fixture.until(run.id, ({ statusKind }) => statusKind !== 'working');
    assert.equal(status, 'pending_action_approval');
  }));

/** One call of a tool with these notes there, and what came of it. */
async function once(name: string, args: JsonObject, notes: NoteStore): Promise<JsonObject | undefined> {
  let result: JsonObject | undefined;
  await withHost({ bundle: trusting, script: call(name, args), notes }, async (fixture) => {
    result = (await say(fixture)).results[0];
  });
  return result;
}

async function some(...texts: readonly string[]): Promise<NoteStore> {
  const notes = createMemoryNotes();
  for (const [at, text] of texts.entries()) notes.saveNote(owner, aNote(`n${at}`, text, at), 100);
  return Promise.resolve(notes);
}

test('a search gives the notes with their ids, days and number', async () => {
  const found = await once('note_search', { words: 'green TEA' }, await some('Likes green tea', 'Lives in Rome'));
  assert.deepEqual(found, { notes: [{ id: 'n0', text: 'Likes green tea', changed: '1970-01-01' }], total: 2 });
});

test('a note takes the place of the one that it names', async () => {
  const notes = await some('Likes tea');
  await once('note_save', { id: 'n0', text: 'Likes coffee' }, notes);
  assert.deepEqual([(await notes.findNote(owner, 'n0'))?.text, await notes.countNotes(owner)], ['Likes coffee', 1]);
});

test('a note is forgotten for good', async () => {
  const notes = await some('Likes tea');
  await once('note_delete', { id: 'n0' }, notes);
  assert.equal(await notes.countNotes(owner), 0);
});

for (const [name, args] of [
  ['note_save', { id: 'n9', text: 'x' }],
  ['note_delete', { id: 'n9' }],
] as const) {
  test(`${name} of a note that is not there is told so`, async () => {
    assert.equal((await once(name, args, await some('Likes tea')))?.['code'], 'unknown_note');
  });
}

test('a turn is told the notes that have room, and how many more there are', async () => {
  const texts = Array.from({ length: 30 }, (_, at) => `${String(at).padStart(2, '0')} ${'x'.repeat(197)}`);
  const notes = await some(...texts);
  await withHost({ bundle: trusting, script: [{ text: 'Hi.' }], notes }, async (fixture) => {
    const { announce } = await say(fixture);
    assert.match(announce, /\[MEMORY\]\n- \(n29\) 29 x+\n(- .+\n){9}and 20 more: note_search finds them/);
  });
});

for (const [what, listNotes] of [
  ['throws', () => Promise.reject(new Error('on fire'))],
  ['hangs', () => new Promise<never>(() => undefined)],
] as const) {
  test(`a store that ${what} leaves the turn without notes, and says so`, async () => {
    const notes: NoteStore = { ...createMemoryNotes(), listNotes };
    await withHost({ bundle: trusting, script: [{ text: 'Hi.' }], notes }, async (fixture) => {
      const { announce } = await say(fixture);
      assert.match(announce, /\[MEMORY\]\nwhat you know of this person cannot be read at the moment/);
    });
  });
}
