// Makes the log of a data folder, in a process of its own: `pages FOLDER ENTRIES` one long run, `waiting FOLDER COUNT`
// runs that each wait for an answer.
import path from 'node:path';
import { connect } from '../src/adapters/stores/sqlite/connection.ts';
import { createSqliteLog } from '../src/adapters/stores/sqlite.ts';
import { openSqliteLedger } from '../src/adapters/stores/ledger/sqlite.ts';
import { createMeter } from '../src/platform/metering/meter.ts';
import { openSqliteLog, createPlatform, systemClock, type Log, type Platform } from '../src/index.ts';
import { directive } from './script.ts';

const bundle = path.join(import.meta.dirname, 'treadle/served.yaml');
const [what, folder = '', count = '1'] = process.argv.slice(2);
const file = path.join(folder, 'treadle.db');

async function drive(platform: Platform, agent: string, turns: number, calls: number): Promise<string> {
  const { id } = await platform.conversations.start({ agent });
  for (let turn = 0; turn < turns; turn++) {
    await platform.conversations.say(id, { text: directive({ id: turn, calls, parallel: calls }) });
    await platform.conversations.drive(id);
  }
  return id;
}

/** A turn has what was said, its calls and the answer. */
const CALLS = 98;

if (what === 'pages') {
  const log = await openSqliteLog({ file, clock: systemClock, synchronous: 'normal' });
  const platform = await createPlatform({ bundle, environment: {}, log });
  process.stdout.write(await drive(platform, 'one', Number(count) / (CALLS + 2), CALLS));
  await platform.close();
} else {
  const connection = await connect(file, 'normal', 5000);
  connection.exec('PRAGMA synchronous = off');
  const log = createSqliteLog(connection, { file, clock: systemClock, synchronous: 'normal' });
  const platform = await createPlatform({ bundle, environment: {}, log });
  const first = await drive(platform, 'careful', 1, 1);
  await copyRun(log, first, Number(count));
  // What the newest have cost is in the ledger, as the server that drove them leaves it; it looks no further back.
  const ledger = await openSqliteLedger({ file: path.join(folder, 'server.db'), clock: systemClock });
  const newest: Log = { ...log, list: (query) => (query.before === undefined ? log.list(query) : []) };
  const logger = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };
  await createMeter({ ledger, log: newest, clock: systemClock, logger }).catchUp();
  ledger.close();
  await platform.close();
}

async function copyRun(log: Log, from: string, count: number): Promise<void> {
  const row = await log.find(from);
  if (row === undefined) throw new Error('the run is gone');
  const facts = await log.read(from, 0, 1000);
  const drafts = facts.map(({ type, payload, turnId, iteration, source }) => ({
    type,
    payload,
    turnId,
    iteration,
    source,
  }));
  const due = await log.due();
  for (let number = 1; number < count; number++) {
    const id = `run_${number}`;
    await log.create({ ...row, id });
    const lease = await log.take(id, 'bench', 1000);
    if (lease === undefined) throw new Error('the lease was refused');
    // What was read from one log goes into the same one.
    await log.append(lease, 0, drafts as Parameters<Log['append']>[2], { status: row.status, title: row.title });
    await log.release(lease, { continueAt: due });
  }
}
