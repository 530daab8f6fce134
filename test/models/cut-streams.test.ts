// Streams as providers really sent them, broken off at every byte. TREADLE_EXHAUSTIVE=1 does by real cuts of every event
// what is done here by real cuts all over a stream: minutes of work.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { casesAbsent } from '../support/cases.ts';
import type { CutDone, CutJob } from '../support/cuts-worker.ts';
import { recordedStreams } from '../support/recorded.ts';

const skip = casesAbsent();
const thorough = process.env['TREADLE_EXHAUSTIVE'] === '1';
const names = skip === false ? recordedStreams().map((stream) => stream.name) : [];

const queue: { readonly job: CutJob; readonly settle: (done: CutDone) => void }[] = [];
const workers = new Set<Worker>();

/** Has it done by the next worker that is free. */
function cut(by: CutJob['by'], name: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    queue.push({ job: { by, name, thorough }, settle: ({ problem }) => resolve(problem) });
    if (workers.size < (thorough ? availableParallelism() : 1)) employ(reject);
  });
}

function employ(fail: (error: Error) => void): void {
  const worker = new Worker(path.join(import.meta.dirname, '../support/cuts-worker.ts'));
  workers.add(worker);
  let current: (typeof queue)[number] | undefined;
  const next = (): void => {
    current = queue.shift();
    if (current !== undefined) worker.postMessage(current.job);
    else worker.unref();
  };
  worker.on('message', (done: CutDone) => {
    current?.settle(done);
    next();
  });
  worker.on('error', fail);
  next();
}

describe('a recorded stream', { skip, concurrency: true }, () => {
  after(async () => {
    for (const worker of workers) await worker.terminate();
  });

  for (const name of names) {
    test(`${name} may be cut at every byte, and is the same in pieces of any size`, async () => {
      assert.equal(await cut('adapter', name), undefined);
    });

    test(`${name} leaves a log, wherever it is cut, whose next request the provider accepts`, async () => {
      assert.equal(await cut('loop', name), undefined);
    });
  }
});
