// Two servers over one file: what is asked on one is answered on the other, and each follows what the other drives.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import type { Frame } from '../../src/platform/runs/frame.ts';
import { ana, withHost } from './a-host.ts';

async function withTwo(run: (first: Log, second: Log) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-replicas-'));
  const open = () => openSqliteLog({ file: path.join(folder, 'log.db'), clock: systemClock });
  const [first, second] = [await open(), await open()];
  try {
    await run(first, second);
  } finally {
    await first.close();
    await second.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const script = [{ actions: [{ name: 'mail', arguments: { to: 'Bo' } }] }, { text: 'Mailed.' }];

test('a request made on one is answered on the other, runs once, and both tell the same', () =>
  withTwo((first, second) =>
    withHost({ log: first, script }, async ({ host, sent, until, another }) => {
      const other = await another({ log: second });
      const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.', key: 'k' });
      assert.equal((await other.runs.create(ana, { prompt: 'Mail Bo.', key: 'k' })).run.id, run.id);
      await until(run.id, ({ requests }) => requests.length === 1);
      const frames = await other.runs.follow(ana, run.id);
      const { requests } = await other.runs.snapshot(ana, run.id);
      const { id: request, digest } = requests[0]!;
      await other.runs.answer(ana, run.id, [{ request, digest, decision: 'allow' }]);
      const heard: Frame[] = [];
      for await (const frame of frames) heard.push(frame);
      assert.deepEqual([heard.at(-1)?.type, sent], ['end', ['Bo']]);
      const pages = await Promise.all([host, other].map((one) => one.runs.events(ana, run.id, { limit: 100 })));
      assert.deepEqual(pages[0], pages[1]);
    }),
  ));

test('a cursor of one is good on the other, after a restart, and after edits in between', () =>
  withTwo((first, second) =>
    withHost({ log: first, script }, async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Mail Bo.' });
      await until(run.id, ({ requests }) => requests.length === 1);
      const { nextCursor, events } = await host.runs.events(ana, run.id, { limit: 100 });
      await host.runs.approve(ana, run.id);
      await until(run.id, ({ terminal }) => terminal);
      await withHost({ log: second, script, drives: false }, async (restarted) => {
        const page = await restarted.host.runs.events(ana, run.id, { cursor: nextCursor });
        assert.equal(page.supersededFirst, true);
        assert.ok(page.events.some(({ id }) => events.some((one) => one.id === id)));
        assert.equal(page.terminal, true);
      });
    }),
  ));
