// Faults that other runtimes were found to have, each by its number: pauses, restarts and crashes around one action.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { definePlugin } from '../../src/kernel/plugin.ts';
import { hold } from '../../src/kernel/verdict.ts';
import { z } from 'zod';
import type { Log } from '../../src/kernel/log.ts';
import { temporaryFile } from '../stores/temporary.ts';
import { aHouse, aTool, lastOf } from '../support/house.ts';
import { brokenRules } from '../support/invariants.ts';
import { aCaller, ana, withHost } from './a-host.ts';

const mail = (to: string) => ({ name: 'mail', arguments: { to } });
const mails = [{ actions: [mail('bo')] }, { text: 'Sent.' }];

test('B015 an approval is followed by the action, not by another model call', () =>
  withHost({ script: mails }, async ({ host, until, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail bo.' });
    await until(run.id, ({ requests }) => requests.length > 0);
    await host.runs.approve(ana, run.id);
    await until(run.id, ({ terminal }) => terminal);
    const { facts } = await host.runs.log(ana, run.id, {});
    const types = facts.map(({ type }) => type);
    const after = types.slice(types.indexOf('hitl.responded')).filter((type) => /^(tool|llm)/.test(type));
    assert.deepEqual([after, sent], [['tool.invoke', 'tool.result', 'llm.request', 'llm.response'], ['bo']]);
  }));

test('B044 a fresh process approves by the id of the run, with the database and the bundle alone', async (t) => {
  const file = path.join(path.dirname(temporaryFile(t)), 'runs.db');
  const open = () => openSqliteLog({ file, clock: systemClock });
  const log = await open();
  await withHost({ script: mails, log }, async ({ host, until, another, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail bo.' });
    await until(run.id, ({ requests }) => requests.length > 0);
    await host.close({ drainMs: 1_000 });
    const fresh = await another({ log: await open() });
    await fresh.start();
    await fresh.runs.approve(ana, run.id);
    while (!(await fresh.runs.snapshot(ana, run.id)).terminal) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([(await fresh.runs.snapshot(ana, run.id)).answer, sent], ['Sent.', ['bo']]);
  });
  await log.close();
});

test('B045 whoever reads of a question can answer it at once, however large the run', () =>
  withHost({ script: mails }, async ({ host, until, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: `Mail bo. ${'x'.repeat(900_000)}` });
    let approved: Promise<unknown> | undefined;
    const ended = await until(run.id, ({ terminal, requests }) => {
      if (requests.length > 0) approved ??= host.runs.approve(ana, run.id);
      return terminal;
    });
    await approved;
    assert.deepEqual([ended.status, sent], ['completed', ['bo']]);
  }));

test('B047 an approval is the run’s, whoever looks at it afterwards', () =>
  withHost({ script: mails }, async ({ host, until, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail bo.' });
    const { requests } = await until(run.id, (now) => now.requests.length > 0);
    const boss = aCaller({ userId: 'boss' }, 'admin');
    const [request] = requests;
    const asked = { request: request?.id ?? '', digest: request?.digest ?? '' };
    await host.runs.answer(boss, run.id, [{ ...asked, decision: 'allow' }]);
    await until(run.id, ({ terminal }) => terminal);
    const { receipts } = await host.runs.answer(ana, run.id, [{ ...asked, decision: 'reject' }]);
    const told = receipts.map(({ decision, by, repeated }) => [decision, by, repeated]);
    assert.deepEqual([sent, told], [['bo'], [['allow', 'boss', true]]]);
  }));

test('B049 a gate that held an action is asked again before it runs, in whatever process', async () => {
  const asked: string[] = [];
  const gate = (name: string) =>
    definePlugin({
      id: 'gate.watch',
      about: 'Holds mails.',
      config: z.strictObject({}),
      setup: (host) =>
        void host.before('before:tool.invoke', () => {
          asked.push(name);
          return hold('May it?');
        }),
    });
  const bundle = `
id: post
surfaces: { as_consumer: { agents: { main: { tools: [{ name: post, kind: module, module: ./post.tool.js }] } } } }
models: { balanced: { provider: scripted, model: scripted } }
plugins: { active: [gate.watch] }
`;
  await withHost({ script: mails, bundle, plugins: [gate('first')] }, async ({ host, until, another, sent }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Mail bo.' });
    await until(run.id, ({ requests }) => requests.length > 0);
    await host.engine.stop({ drainMs: 1_000 });
    const second = await another({ plugins: [gate('second')] });
    await second.start();
    await second.runs.approve(ana, run.id);
    await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual([asked, sent], [['first', 'second'], ['bo']]);
  });
});

test('B050 B051 after a crash only what was under way is in doubt: what had ended stays, what had not begun runs', async () => {
  const log = createMemoryLog({ clock: systemClock });
  const ran: string[] = [];
  const steps = (hangs: boolean) =>
    ['one', 'two', 'three'].map((name) =>
      aTool(
        name,
        () => {
          ran.push(name);
          return hangs && name === 'two' ? new Promise(() => undefined) : name;
        },
        { effect: 'once', timeoutMs: 0 },
      ),
    );
  const script = [{ actions: ['one', 'two', 'three'].map((name) => ({ name, arguments: {} })) }, { text: 'ok' }];
  const limits = { maxConcurrent: 1 };
  const dying = aHouse({ log, tools: steps(true), script, limits });
  await dying.say('go');
  void dying.drive({ owner: 'dying' }).catch(() => undefined);
  while (!ran.includes('two')) await new Promise((resolve) => setImmediate(resolve));
  log.take('c1', 'dying', 1); // the process is gone, and so is its right to write
  const lease = log.take('c1', 'dying', 1);
  if (lease !== undefined) log.release(lease, { unfinished: true });
  const heir = aHouse({ log, tools: steps(false), script, limits });
  const { turns } = await heir.drive({ owner: 'heir' });
  const outcomes = [...(turns.at(-1)?.iterations ?? [])][0]?.actions.map(({ observation }) => observation?.outcome);
  assert.deepEqual(
    [outcomes, ran],
    [
      ['ok', 'unknown', 'ok'],
      ['one', 'two', 'three'],
    ],
  );
  assert.deepEqual(brokenRules(await heir.facts()), []);
});

test('B106 B107 messages stand in the order in which they came, whatever their senders’ clocks and keys say', () =>
  withHost({ drives: false }, async ({ host }) => {
    const { run } = await host.runs.create(ana, { prompt: 'one', key: 'z-2099' });
    await host.runs.say(ana, run.id, { content: 'two', key: 'a-1970' });
    const { events } = await host.runs.events(ana, run.id);
    assert.deepEqual(
      events.map(({ text, position }) => [text, position]),
      [
        ['one', 1],
        ['two', 2],
      ],
    );
  }));

test('B111 an action whose question cannot be stored does not run', async () => {
  const log = createMemoryLog({ clock: systemClock });
  let paid = 0;
  const full: Log = {
    ...log,
    append(lease, expected, drafts, row) {
      if (drafts.some(({ type }) => type === 'hitl.requested')) throw new TreadleError('log_full');
      return log.append(lease, expected, drafts, row);
    },
  };
  const house = aHouse({
    log: full,
    tools: [aTool('pay', () => ++paid, { effect: 'once' })],
    script: [{ actions: [{ name: 'pay', arguments: {} }] }, { text: 'ok' }],
    plugins: (bus) => void bus.before('before:tool.invoke', () => hold('May it?')),
  });
  await assert.rejects(house.ask('go'), { code: 'log_full' });
  assert.deepEqual([paid, await lastOf(house, 'tool.invoke')], [0, undefined]);
});
