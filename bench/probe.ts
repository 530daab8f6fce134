// Loaded into the served process before the command: says what the process holds and has used, when it is asked.
export interface Held {
  readonly rss: number;
  readonly heap: number;
  readonly timers: number;
  /** Milliseconds of a processor that the main thread has used. */
  readonly cpu: number;
}

process.on('message', (collect: boolean) => {
  if (collect) globalThis.gc?.();
  const { user, system } = process.threadCpuUsage();
  const { rss, heapUsed: heap } = process.memoryUsage();
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  process.send?.({ rss, heap, timers, cpu: (user + system) / 1000 } satisfies Held);
});
process.on('disconnect', () => process.exit());
process.channel?.unref();
