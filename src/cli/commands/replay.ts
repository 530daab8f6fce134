import { readFileSync } from 'node:fs';
import path from 'node:path';
import { TreadleError } from '../../base/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ReplayReport } from '../../platform/replay/report.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { findRun, openLog } from '../open.ts';
import { findRemoteRun, openClient, type RemoteOptions } from '../remote.ts';
import { replayLines } from '../replay-lines.ts';
import { parseLimit } from './list.ts';

export interface ReplayOptions extends RemoteOptions {
  readonly bundle?: string;
  readonly upTo?: string;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Runs a recorded run again, offline, and says where it would have asked for something else. */
export async function replay(context: Context, named: string, options: ReplayOptions): Promise<Outcome> {
  const upTo = options.upTo === undefined ? undefined : parseLimit(options.upTo, '--up-to');
  const report =
    options.url === undefined
      ? await replayHere(context, named, options, upTo)
      : await replayThere(context, named, options, upTo);
  const { terminal } = context;
  if (options.json === true) terminal.out.write(`${JSON.stringify(report)}\n`);
  else {
    const look = { colors: terminal.colors, columns: terminal.columns() };
    terminal.out.write(
      replayLines(report, options.bundle, look)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  return report.same ? 'completed' : 'different';
}

async function replayHere(
  { environment }: Context,
  named: string,
  { data, bundle }: ReplayOptions,
  upTo: number | undefined,
): Promise<ReplayReport> {
  const [{ factsOf, replay: run }, { log }] = await Promise.all([
    import('../../platform/replay/replay.ts'),
    openLog({ data, reads: true, environment }),
  ]);
  try {
    const row = await findRun(log, named);
    const facts = await factsOf(log, row.id);
    if (bundle === undefined) return await run(row, facts, { upTo, logger: silent });
    const [{ bundleRules, recordedReach }, { allPlugins }, { loadForReading }] = await Promise.all([
      import('../../platform/replay/bundle-rules.ts'),
      import('../../platform/bundle/all-plugins.ts'),
      import('../load-bundle.ts'),
    ]);
    const loaded = await loadForReading(path.resolve(bundle), environment, recordedReach(row, facts));
    const rules = bundleRules(row, facts, { bundle: loaded, plugins: allPlugins, logger: silent });
    try {
      return await run(row, facts, { rules, upTo, logger: silent });
    } finally {
      await rules.close();
    }
  } finally {
    await log.close();
  }
}

async function replayThere(
  context: Context,
  named: string,
  options: ReplayOptions,
  upTo: number | undefined,
): Promise<ReplayReport> {
  const client = openClient(context, options);
  const bundle = options.bundle === undefined ? undefined : readBundle(options.bundle);
  return client.replay(await findRemoteRun(client, named), { bundle, upTo });
}

function readBundle(file: string): string {
  try {
    return readFileSync(path.resolve(file), 'utf8');
  } catch (cause) {
    throw new TreadleError('bundle_unreadable', { place: file, cause });
  }
}
