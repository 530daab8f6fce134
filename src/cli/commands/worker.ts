import { startProbes, type Probes } from '../../http/probes.ts';
import type { Context } from '../context.ts';
import { parseDuration } from '../drive-run.ts';
import type { Outcome } from '../exit-codes.ts';
import { agentNames, openServing, parseNumber, type ServingOptions } from '../serving.ts';
import { counted } from '../text.ts';
import { untilTold } from '../until-told.ts';

export interface WorkerOptions extends ServingOptions {
  readonly probes?: string;
  readonly probesHost?: string;
  readonly drain?: string;
}

/** Drives runs of bundles until a signal comes, and answers nobody: what servers begin goes on here. */
export async function work(
  context: Context,
  bundles: readonly string[],
  options: WorkerOptions,
  version: string,
): Promise<Outcome> {
  const drainMs = options.drain === undefined ? 10_000 : parseDuration(options.drain, '--drain');
  const port = options.probes === undefined ? undefined : parseNumber(options.probes, '--probes', 65_535);
  const serving = await openServing(context, bundles, options, version);
  const { storage, host, measured, logger } = serving;
  let probes: Probes | undefined;
  try {
    if (port !== undefined)
      probes = await startProbes({
        hostname: options.probesHost ?? '127.0.0.1',
        port,
        check: serving.check,
        figures: measured.figures,
        logger,
      });
    await measured.watch(host);
    await host.start();
    const agents = agentNames(host.agents());
    const rows = [
      ['agents', `${counted(agents.length, 'agent')}: ${agents.join(', ')}`],
      ['runs', storage.place ?? 'kept nowhere'],
      ...(probes === undefined ? [] : [['probes', `${probes.url}/health, /ready and /metrics`]]),
    ];
    const lines = rows.map(([label = '', text = '']) => `  ${label.padEnd(8)}${text}\n`);
    context.terminal.out.write(`Treadle drives runs\n${lines.join('')}`);
    await untilTold(context, logger, drainMs);
    await Promise.all([host.drain({ drainMs }), probes?.close()]);
    await serving.close(0);
    logger.info('shut down');
    return 'completed';
  } catch (error) {
    await probes?.close();
    await serving.close(0);
    throw error;
  }
}
