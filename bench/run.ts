// `npm run bench`: every row of the table, by default against every peer. `--quick` takes under three minutes.
import { existsSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureAssembly } from './assembly.ts';
import { loads, type LoadName } from './load.ts';
import { ensurePeers, peerSize, treadleSize } from './install.ts';
import { start, startServer, type Running } from './processes.ts';
import { rows, type Row, type Source } from './rows.ts';
import { compile, measureStartup } from './startup.ts';
import { floor, peers as allPeers, treadle, type SubjectInfo } from './subjects.ts';
import { mainTable, peerTable, type Answer } from './table.ts';
import { workloads, type Metrics, type Setup, type Workload, type WorkloadName } from './workloads.ts';

const help = `Usage: npm run bench -- [options]

  --quick            shorter batches and fewer rounds, under three minutes
  --cpu              processor time of the main thread instead of wall time: for a machine that is busy
  --only turn,crowd  rows whose name begins so (${[...new Set(rows.map(({ id }) => id))].join(', ')})
  --peers pi,ai      peers whose name begins so; --peers none for none (${allPeers.map(({ name }) => name).join(', ')})
  --json file        writes every number of every round to a file as well`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    cpu: { type: 'boolean', default: false },
    only: { type: 'string' },
    peers: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const chosen = <T>(all: readonly T[], name: (one: T) => string, asked: string | undefined): T[] => {
  if (asked === undefined) return [...all];
  const starts = asked.split(',').map((one) => one.trim().toLowerCase());
  return all.filter((one) => starts.some((start) => name(one).toLowerCase().startsWith(start)));
};

function chosenPeers(): SubjectInfo[] {
  const quickOnes = allPeers.filter((peer) => !options.quick || peer.slow !== 'always');
  return options.peers === undefined ? quickOnes : chosen(allPeers, (peer) => peer.name, options.peers);
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

/** By metric, then by subject. */
type Measured = Map<string, Map<string, number[]>>;

const note = (text: string) => console.error(text);

async function main(): Promise<void> {
  if (options.help) {
    console.log(help);
    return;
  }
  const wanted = chosen(rows, (row) => row.id, options.only);
  if (wanted.length === 0) throw new Error(`No row is called like that.\n\n${help}`);
  const peers = options.peers !== 'none' && ensurePeers() ? chosenPeers() : [];
  const runtime = existsSync(path.join(import.meta.dirname, treadle.module)) ? [treadle] : [];
  const load = os.loadavg()[0] ?? 0;

  const measured = new Map<Source, Measured>();
  for (const source of new Set(wanted.map((row) => row.source))) {
    const started = performance.now();
    measured.set(source, await measure(source, runtime, peers));
    note(`${source.padEnd(18)} ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }

  const answers = wanted.map((row) => answer(row, measured));
  console.log(`\n${machine(load)}\n\n${mainTable(answers)}`);
  if (peers.length > 0) {
    console.log(
      `\n${peerTable(
        answers,
        peers.map(({ name }) => name),
      )}`,
    );
  }
  if (options.json !== undefined) writeFileSync(options.json, json(answers));
}

function measure(source: Source, runtime: SubjectInfo[], peers: SubjectInfo[]): Promise<Measured> {
  switch (source) {
    case 'server-load':
    case 'server-waiting':
    case 'server-pages':
    case 'server-chunks':
      return measureLoad(source);
    case 'startup':
      return measureStartup(peers, options.quick ? 5 : 11);
    case 'assembly':
      return Promise.resolve(measureAssembly(options.quick ? 3 : 9));
    case 'install':
      return Promise.resolve(sizes(peers));
    default:
      return measureWorkload(source, [floor, ...runtime, ...peers]);
  }
}

/** What only Treadle has: the server. */
async function measureLoad(name: LoadName): Promise<Measured> {
  const { measure, rounds } = loads[name];
  const measured: Measured = new Map();
  for (let round = 0; round < (options.quick ? 1 : rounds); round++) {
    try {
      for (const [metric, value] of Object.entries(await measure()))
        measured.set(metric, new Map([[treadle.name, [...(measured.get(metric)?.get(treadle.name) ?? []), value]]]));
    } catch (error) {
      note(`${name}: ${firstLine(error)}`);
    }
  }
  return measured;
}

function sizes(peers: readonly SubjectInfo[]): Measured {
  const bySubject = new Map<string, number[]>();
  const put = (name: string, size: number | undefined) => size !== undefined && bySubject.set(name, [size]);
  put(treadle.name, treadleSize(compile()));
  for (const peer of peers) put(peer.name, peerSize(peer));
  return new Map([['size', bySubject]]);
}

async function measureWorkload(name: WorkloadName, subjects: readonly SubjectInfo[]): Promise<Measured> {
  const workload: Workload = workloads[name];
  const taking = subjects.filter((subject) => takesPart(subject, name, workload));
  const server = workload.http === true ? await startServer() : undefined;
  const rounds = (workload.rounds ?? { full: 9, quick: 3 })[options.quick ? 'quick' : 'full'];
  const setupOf = ({ longest }: SubjectInfo): Setup => ({
    quick: options.quick,
    cpu: options.cpu,
    batchMs: options.quick ? 60 : 150,
    longest,
    ...(server && { baseUrl: server.baseUrl }),
  });
  const measured: Measured = new Map();
  const record = (subject: SubjectInfo, metrics: Metrics) => {
    for (const [metric, value] of Object.entries(metrics)) {
      const bySubject = measured.get(metric) ?? new Map<string, number[]>();
      measured.set(metric, bySubject);
      bySubject.set(subject.name, [...(bySubject.get(subject.name) ?? []), value]);
    }
  };
  const failed = (subject: SubjectInfo, error: unknown) =>
    note(`${name}: without ${subject.name}: ${firstLine(error)}`);

  // A B C, C B A, A B C: whoever goes last in one round goes first in the next.
  const inTurn = <T>(all: readonly T[], round: number) => (round % 2 === 0 ? all : [...all].reverse());
  if (workload.fresh === true) {
    for (let round = 0; round < rounds; round++) {
      for (const subject of inTurn(taking, round)) {
        try {
          const running = await start(subject, name, setupOf(subject));
          record(subject, await running.batch().finally(() => running.stop()));
        } catch (error) {
          failed(subject, error);
        }
      }
    }
  } else {
    const started = await Promise.all(
      taking.map((subject) =>
        start(subject, name, setupOf(subject)).catch((error: unknown) => {
          failed(subject, error);
        }),
      ),
    );
    let running = started.filter((one) => one !== undefined);
    const safely = async (one: Running, work: () => Promise<void>) => {
      try {
        await work();
      } catch (error) {
        failed(one.subject, error);
        running = running.filter((other) => other !== one);
        await one.stop();
      }
    };
    for (const one of [...running]) await safely(one, () => one.warm(options.quick ? 400 : 1800));
    for (let round = 0; round < rounds; round++) {
      for (const one of inTurn(running, round)) {
        await safely(one, async () => record(one.subject, await one.batch()));
      }
    }
    await Promise.all(running.map((one) => one.stop()));
  }
  await server?.stop();
  return measured;
}

function takesPart(subject: SubjectInfo, name: WorkloadName, workload: Workload): boolean {
  if (workload.http === true && !subject.http) return false;
  if (workload.log === true && !subject.log) return false;
  return !(options.quick && subject.slow === 'crowd' && name.startsWith('crowd'));
}

function answer(row: Row, measured: ReadonlyMap<Source, Measured>): Answer {
  return { row, numbers: measured.get(row.source)?.get(row.metric) ?? new Map() };
}

function machine(load: number): string {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const busy = load > 1 ? ` Something else was running: load ${load.toFixed(1)} at the start.` : '';
  const kind = options.quick ? 'Quick look' : 'Medians of interleaved rounds';
  return `${kind}. Node ${process.version}, ${cpus.length} × ${cpus[0]?.model.trim() ?? '?'}, ${memory} GiB, ${process.platform}.${busy}`;
}

function json(answers: readonly Answer[]): string {
  const lines = answers.map(({ row, numbers }) => ({
    row: row.id,
    unit: row.unit,
    rounds: Object.fromEntries(numbers),
  }));
  return `${JSON.stringify({ node: process.version, quick: options.quick, rows: lines }, null, 2)}\n`;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
