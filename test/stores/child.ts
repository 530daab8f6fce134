// Another process that uses a log. It is told what to do as JSON in its arguments and says what it did, a line each.
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { systemClock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { added, answer, aConversation, leaseOn, say } from '../conformance/log-samples.ts';

export interface Order {
  /**
   * `contend`: append and post as often as told, against others. `post`: one message. `append`: facts without end.
   * `slowly`: the same with a pause after each, until fenced. `weigh`: how much memory a log takes.
   */
  readonly work: 'contend' | 'post' | 'append' | 'slowly' | 'weigh';
  readonly file: string;
  readonly name: string;
  readonly synchronous?: 'full' | 'normal';
  readonly count?: number;
  readonly ttlMs?: number;
}

// Straight to the descriptor: a line that was written is out, even if the process is killed in the next moment.
const tell = (line: string) => writeSync(1, `${line}\n`);

const { work, file, name, synchronous, count = 0, ttlMs = 15_000 } = JSON.parse(process.argv[2] ?? '') as Order;
const log = await openSqliteLog({ file, clock: systemClock, synchronous });
await log.create(aConversation('c1'));

switch (work) {
  case 'post': {
    const { fact } = await log.post('c1', say(name, name));
    tell(`${fact.seq}`);
    break;
  }
  case 'contend':
    for (let done = 0; done < count;) {
      const lease = await log.take('c1', name, ttlMs);
      if (lease === undefined) {
        const { fact } = await log.post('c1', say(`${name}-p${done}`));
        tell(`${fact.seq} ${name}-p${done++}`);
        continue;
      }
      for (let turn = 0; turn < 5 && done < count; turn++) {
        const head = (await log.find('c1'))?.head ?? 0;
        const result = await log.append(lease, head, [answer(`${name}-a${done}`), answer(`${name}-a${done}!`)]);
        if (result.ok) tell(`${result.facts[0]?.seq ?? ''} ${name}-a${done++}`);
        else tell(result.reason);
      }
      await log.release(lease);
    }
    break;
  case 'append': {
    const lease = await leaseOn(log, 'c1', name, ttlMs);
    for (let head = (await log.find('c1'))?.head ?? 0; ; head += 3) {
      added(await log.append(lease, head, [answer(`${head}-1`), answer(`${head}-2`), answer(`${head}-3`)]));
      tell(`${head + 3}`);
    }
  }
  case 'slowly': {
    const lease = await leaseOn(log, 'c1', name, ttlMs);
    for (let head = 0; ; head++) {
      const result = await log.append(lease, head, [answer(`${name}-${head}`)]);
      tell(result.ok ? `${head + 1}` : result.reason);
      if (!result.ok) break;
      await pause(50);
    }
    break;
  }
  case 'weigh': {
    const used = () => {
      globalThis.gc?.();
      return process.memoryUsage();
    };
    await log.ready(10);
    const before = used();
    const ready = await log.ready(1000);
    const listed = await log.list({ limit: 100 });
    for (const id of ready) await log.read(id, 0, 10);
    const after = used();
    tell(`${ready.length} ${listed.length} ${after.heapUsed - before.heapUsed} ${after.rss}`);
    break;
  }
}
await log.close();

process.on('uncaughtException', (problem) => {
  tell(TreadleError.is(problem) ? problem.code : String(problem));
  process.exit(1);
});
