// The processes of a run: subjects that take batches, and the model server.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { FromChild, ToChild } from './child.ts';
import type { SubjectInfo } from './subjects.ts';
import type { Metrics, Setup, WorkloadName } from './workloads.ts';

const file = (name: string) => path.join(import.meta.dirname, name);
const options = { execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'] };

export interface Running {
  readonly subject: SubjectInfo;
  warm(ms: number): Promise<void>;
  batch(): Promise<Metrics>;
  stop(): Promise<void>;
}

export async function start(subject: SubjectInfo, workload: WorkloadName, setup: Setup): Promise<Running> {
  const child = fork(file('child.ts'), [], options);
  const ask = async (message: ToChild): Promise<Metrics> => {
    const answered = once(child, 'message') as Promise<[FromChild]>;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the process ended with ${String(code)}`);
    });
    ended.catch(() => undefined);
    child.send(message);
    const [answer] = await Promise.race([answered, ended]);
    if ('error' in answer) throw new Error(answer.error);
    return answer.metrics;
  };
  const stop = () => end(child);
  try {
    await ask({ say: 'open', module: subject.module, workload, setup });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    subject,
    async warm(ms) {
      await ask({ say: 'warm', ms });
    },
    batch: () => ask({ say: 'batch' }),
    stop,
  };
}

export async function startServer(): Promise<{ readonly baseUrl: string; stop(): Promise<void> }> {
  const child = fork(file('server.ts'), [], options);
  const [port] = (await once(child, 'message')) as [number];
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  if (child.connected) child.disconnect();
  await gone;
}
