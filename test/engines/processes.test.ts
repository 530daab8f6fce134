// What holds between engines in processes of their own that share one log: every conversation with work is driven, one
// writes at a time, and what may happen once happens once. The effects are counted outside of the log.
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { statusKind } from '../../src/domain/status.ts';
import type { Log } from '../../src/kernel/log.ts';
import { aConversation, say } from '../conformance/log-samples.ts';
import { openFor, temporaryFile } from '../stores/temporary.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';
import type { Order } from './child.ts';

interface Child {
  readonly process: ChildProcessByStdio<null, Readable, null>;
  readonly said: string[];
  /** Resolves once it has said so many lines that begin with this. */
  heard(start: string, count?: number): Promise<void>;
}

function start(t: TestContext, order: Order): Child {
  const script = path.join(import.meta.dirname, 'child.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const said: string[] = [];
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on('line', (line) => {
    said.push(line);
    for (const check of waiting) check();
  });
  return {
    process: child,
    said,
    heard: (begin, count = 1) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (said.filter((line) => line.startsWith(begin)).length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}

interface Scene {
  readonly log: Log;
  readonly order: Order;
  readonly ids: readonly string[];
  /** Waits until every conversation has ended. */
  readonly ended: () => Promise<void>;
  /** What is broken, in all of them. */
  readonly broken: () => Promise<string[]>;
}

async function scene(t: TestContext, count: number, slowMs: number): Promise<Scene> {
  const file = temporaryFile(t);
  const log = await openFor(t, { file, synchronous: 'normal' });
  const order = { file, effects: `${file}.effects`, leaseMs: 700, slowMs };
  const ids = Array.from({ length: count }, (_, index) => `k${index}`);
  for (const id of ids) {
    await log.create(aConversation(id, { agent: 'main', agentPath: 'main' }));
    await log.post(id, say('go'));
  }
  const isOver = async (id: string) => {
    const row = await log.find(id);
    return row !== undefined && row.head > 1 && statusKind(row.status) === 'ended';
  };
  return {
    log,
    order,
    ids,
    async ended() {
      for (const id of ids) while (!(await isOver(id))) await pause(20);
    },
    async broken() {
      const lines = existsSync(order.effects) ? readFileSync(order.effects, 'utf8').trim().split('\n') : [];
      const broken: string[] = [];
      for (const id of ids) {
        const mine = lines.filter((line) => line.startsWith(`${id}/`));
        const ledger: Ledger = new Map();
        for (const key of mine) ledger.set(key, (ledger.get(key) ?? 0) + 1);
        broken.push(...brokenRules(await log.read(id, 0, 10_000), ledger).map((rule) => `${id}: ${rule}`));
      }
      return broken;
    },
  };
}

test('two processes drive every conversation, and what may happen once happens once', async (t) => {
  const { log, order, ids, ended, broken } = await scene(t, 30, 5);
  const children = [start(t, order), start(t, order)];
  await ended();
  assert.deepEqual(await broken(), []);
  for (const id of ids) assert.equal((await log.find(id))?.status, 'completed');
  assert.equal(readFileSync(order.effects, 'utf8').trim().split('\n').length, 30 * 4);
  for (const child of children) {
    await child.heard('ready'); // one that was late found nothing left to do
    child.process.kill('SIGTERM');
    assert.deepEqual(await once(child.process, 'exit'), [0, null]);
  }
});

test('processes that are killed in mid-work leave it to the others, and nothing is done twice', async (t) => {
  const { log, order, ids, ended, broken } = await scene(t, 60, 40);
  const survivor = start(t, order);
  for (let kills = 0; kills < 4; kills++) {
    const victim = start(t, order);
    await Promise.race([victim.heard('effect', 1 + kills), ended()]); // one that was late finds nothing left to do
    victim.process.kill('SIGKILL');
    await once(victim.process, 'exit');
  }
  await ended();
  assert.deepEqual(await broken(), []);
  const unknown = (await Promise.all(ids.map(async (id) => log.read(id, 0, 1_000))))
    .flat()
    .filter((fact) => fact.type === 'tool.result' && fact.payload.outcome === 'unknown');
  assert.ok(unknown.length <= 16, 'at most what the killed ones had under way');
  assert.deepEqual(
    survivor.said.filter((line) => line.startsWith('error')),
    [],
  );
});

test('a process that was frozen past its leases and wakes is fenced', async (t) => {
  const { order, ended, broken } = await scene(t, 4, 150);
  const frozen = start(t, order);
  await frozen.heard('effect', 3);
  frozen.process.kill('SIGSTOP');
  const heir = start(t, order);
  await heir.heard('slice', 4);
  frozen.process.kill('SIGCONT');
  // It is told by what it writes next, or by its lease, whichever it looks at first.
  await Promise.race([frozen.heard('warn another worker has taken over'), frozen.heard('slice')]);
  await ended();
  assert.deepEqual(await broken(), []);
});

test('a process that is told to stop finishes what it began and leaves the rest at once', async (t) => {
  const { order, ended, broken } = await scene(t, 8, 30);
  const first = start(t, order);
  await first.heard('effect', 2);
  first.process.kill('SIGTERM');
  assert.deepEqual(await once(first.process, 'exit'), [0, null]);
  start(t, order);
  await ended();
  assert.deepEqual(await broken(), []);
});
