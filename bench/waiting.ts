// Prints how many MB of memory a process needs more for a log of 100,000 waiting conversations than for a log of one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { openSqliteLog, systemClock } from '../src/index.ts';

const [mode, folder, count] = process.argv.slice(2);
const file = path.join(folder ?? '', 'waiting.db');

if (mode === 'fill') {
  const log = await openSqliteLog({ file, clock: systemClock, synchronous: 'normal' });
  for (let n = 0; n < Number(count); n++) {
    const id = `run_${n}`;
    await log.create({ id, agent: 'main', bundle: 'b', userId: 'u', tenant: 't', agentPath: 'main', createdAt: n });
    await log.post(id, { type: 'io.input', payload: { text: 'wait', mode: 'message' } });
  }
  await log.close();
} else if (mode === 'hold') {
  const log = await openSqliteLog({ file, clock: systemClock });
  await log.list({ limit: 50 });
  globalThis.gc?.();
  process.stdout.write(String(process.memoryUsage().rss / 1_000_000));
  await log.close();
} else {
  const run = (...given: string[]): number => {
    const args = ['--expose-gc', import.meta.filename, ...given];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  };
  const held = [1, 100_000].map((conversations) => {
    const place = mkdtempSync(path.join(tmpdir(), 'treadle-bench-'));
    run('fill', place, String(conversations));
    const most = Math.min(...[1, 2, 3].map(() => run('hold', place)));
    rmSync(place, { recursive: true });
    return most;
  });
  process.stdout.write(String(Math.max(0, (held[1] ?? 0) - (held[0] ?? 0))));
}
