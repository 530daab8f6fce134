// Cuts recordings in a thread of its own: the test runner follows every promise of its own thread, and streams are
// nothing else.
import { parentPort } from 'node:worker_threads';
import { cutEverywhere, cutInLoop } from './cuts.ts';

export interface CutJob {
  readonly by: 'adapter' | 'loop';
  readonly name: string;
  readonly thorough: boolean;
}

export interface CutDone {
  readonly job: CutJob;
  /** What did not hold; undefined when all did. */
  readonly problem: string | undefined;
}

parentPort?.on('message', (job: CutJob) => {
  const work = job.by === 'adapter' ? cutEverywhere : cutInLoop;
  work(job.name, job.thorough).then(
    () => parentPort?.postMessage({ job, problem: undefined } satisfies CutDone),
    (error: unknown) =>
      parentPort?.postMessage({
        job,
        problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
      } satisfies CutDone),
  );
});
