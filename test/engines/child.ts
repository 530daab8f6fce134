// A process with an engine, a worker and a log: what a server is, without its doors. Effects go into a file of their own.
import { appendFileSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createEmbeddedEngine } from '../../src/adapters/engines/embedded.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { systemClock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { createWorker } from '../../src/platform/hosting/worker.ts';
import { aHouse, aTool } from '../support/house.ts';

export interface Order {
  readonly file: string;
  /** One line an effect: the idempotency key. */
  readonly effects: string;
  readonly leaseMs: number;
  /** How long each tool takes after its effect. */
  readonly slowMs: number;
}

const tell = (line: string) => writeSync(1, `${line}\n`);

const { file, effects, leaseMs, slowMs } = JSON.parse(process.argv[2] ?? '') as Order;
const log = await openSqliteLog({ file, clock: systemClock, synchronous: 'normal' });
const logger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => tell(`warn ${message} ${JSON.stringify(fields)}`),
  error: (message, fields) => tell(`error ${message} ${String(fields?.['error'])}`),
};
const happen = async (_: never, { idempotencyKey }: { readonly idempotencyKey: string }) => {
  appendFileSync(effects, `${idempotencyKey}\n`);
  tell(`effect ${idempotencyKey}`);
  await pause(slowMs);
  return 'done';
};
const house = aHouse({
  log,
  logger,
  limits: { maxConcurrent: 2 },
  script: [
    { actions: [{ name: 'pay', arguments: { n: 1 } }] },
    {
      actions: [
        { name: 'put', arguments: {} },
        { name: 'pay', arguments: { n: 2 } },
      ],
    },
    { actions: [{ name: 'look', arguments: {} }] },
    { text: 'paid twice' },
  ],
  tools: [
    aTool('pay', happen, { effect: 'once' }),
    aTool('put', happen, { effect: 'idempotent' }),
    aTool('look', happen, { effect: 'read' }),
  ],
});
const worker = createWorker({ ...house.ports, ids: randomIds }, { leaseMs });
const engine = createEmbeddedEngine({ log, clock: systemClock, logger, concurrency: 4 });
await engine.start(async (id, control) => {
  const meta = await log.find(id);
  if (meta === undefined) return 'idle';
  const end = await worker.slice(meta, control);
  tell(`slice ${id}`);
  return end;
});
process.once('SIGTERM', () => {
  void engine
    .stop({ drainMs: 5_000 })
    .then(() => worker.stop(1_000))
    .then(() => log.close())
    .then(() => process.exit(0));
});
tell('ready');
// The engine's timer ends with the test, not with the last conversation.
setInterval(() => undefined, 1_000);
