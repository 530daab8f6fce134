import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openPostgresControlStore } from '../../src/adapters/stores/control/postgres.ts';
import { createPostgresLedger } from '../../src/adapters/stores/ledger/postgres.ts';
import { createPostgresNotes } from '../../src/adapters/stores/notes/postgres.ts';
import { openDatabase } from '../../src/adapters/stores/postgres/database.ts';
import { migrate } from '../../src/adapters/stores/postgres/migrate.ts';
import { readDatabaseUrl } from '../../src/adapters/stores/postgres/settings.ts';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import { accountOfTenant, type Ledger } from '../../src/kernel/ledger.ts';
import { controlStoreConformance } from '../conformance/control.ts';
import { aCall, aReservation, aSpender, ledgerConformance } from '../conformance/ledger.ts';
import { StillClock } from '../conformance/log-samples.ts';
import { notesConformance } from '../conformance/notes.ts';
import { logConformance } from '../conformance/log.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';

describe('a log in PostgreSQL', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  let schemas = 0;
  const urls = new Map<Log, string>();
  const open = async (url: string, clock: Clock): Promise<Log> => {
    const log = await openPostgresLog({ url, clock, origin: `test-${urls.size}`, ownTime: true });
    urls.set(log, url);
    // Whoever watches is told once more when the line comes up; here that is over before anybody does.
    const isUp = new Promise<void>((resolve) => log.line.onUp(resolve));
    log.onWork(() => undefined);
    await isUp;
    return log;
  };
  logConformance('postgres', {
    open: (clock) => open(`${cluster.url}?schema=s${++schemas}&pool=4`, clock),
    reopen: (log, clock) => open(urls.get(log) ?? '', clock),
  });

  const place = (): string => `${cluster.url}?schema=s${schemas}&pool=4`;
  const anew = (): string => {
    schemas++;
    return place();
  };
  controlStoreConformance('postgres', {
    open: (clock) => openPostgresControlStore({ url: anew(), clock }),
    reopen: (clock) => openPostgresControlStore({ url: place(), clock }),
  });

  const ledgerIn = async (url: string, clock: Clock): Promise<Ledger> => {
    const database = await openDatabase(readDatabaseUrl(url));
    await migrate(database);
    return { ...createPostgresLedger(database, { clock }), close: () => database.close() };
  };
  const notesIn = async (url: string) => {
    const database = await openDatabase(readDatabaseUrl(url));
    await migrate(database);
    return { ...createPostgresNotes(database), close: () => database.close() };
  };
  notesConformance('postgres', { open: () => notesIn(anew()), reopen: () => notesIn(place()) });

  ledgerConformance('postgres', {
    open: (clock) => ledgerIn(anew(), clock),
    reopen: (clock) => ledgerIn(place(), clock),
  });

  test('processes that count and set aside at once lose nothing and let no more through than fits', async () => {
    const clock = new StillClock(Date.parse('2026-03-04T12:00:00Z'));
    const url = anew();
    const ledgers = [await ledgerIn(url, clock), await ledgerIn(url, clock)];
    const spenders = Array.from({ length: 20 }, (_, index) => aSpender(`c${index}`));
    const counting = spenders.flatMap((spender) =>
      ledgers.map(async (ledger) => {
        for (const seq of [1, 2, 3]) await ledger.add(spender, [aCall(seq)], { through: seq });
      }),
    );
    const account = accountOfTenant('elsewhere');
    const caps = [{ account, period: '', calls: 7 }];
    const asking = Array.from({ length: 20 }, async (_, index) =>
      ledgers[index % 2]!.reserve(aReservation(`r${index}`, caps)),
    );
    await Promise.all(counting);
    assert.equal((await Promise.all(asking)).filter(({ ok }) => ok).length, 7);
    const { tenant } = aSpender();
    const [all] = await ledgers[0]!.sum({ by: 'day', tenant });
    assert.deepEqual([all?.calls, (await ledgers[0]!.spent(accountOfTenant(tenant), all?.key ?? '')).calls], [60, 60]);
    for (const ledger of ledgers) await ledger.close();
  });
});
