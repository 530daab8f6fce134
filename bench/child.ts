// One subject and one workload in a process of its own. It is told what to open, answers each `batch` with its numbers,
// and ends when the process that started it lets go.
import { workloads, type Metrics, type Setup, type WorkloadName } from './workloads.ts';
import type { SubjectModule } from './subject.ts';

export type ToChild =
  | { readonly say: 'open'; readonly module: string; readonly workload: WorkloadName; readonly setup: Setup }
  | { readonly say: 'warm'; readonly ms: number }
  | { readonly say: 'batch' };

export type FromChild = { readonly metrics: Metrics } | { readonly error: string };

let batch: () => Promise<Metrics> = () => Promise.reject(new Error('nothing is open'));

function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function obey(message: ToChild): Promise<Metrics> {
  switch (message.say) {
    case 'open': {
      if (message.setup.cpu) performance.now = processorTime;
      const subject = (await import(message.module)) as SubjectModule;
      batch = await workloads[message.workload].open((options) => subject.create(options), message.setup);
      return {};
    }
    case 'warm': {
      const until = performance.now() + message.ms;
      do await batch();
      while (performance.now() < until);
      return {};
    }
    case 'batch':
      return batch();
  }
}

process.on('message', (message: ToChild) => {
  obey(message).then(
    (metrics) => process.send?.({ metrics } satisfies FromChild),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? error.message : String(error) } satisfies FromChild),
  );
});
process.on('disconnect', () => process.exit());
