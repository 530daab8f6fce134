import type { LazyNotes } from '../adapters/stores/notes/lazy.ts';
import { randomIds } from '../base/ids.ts';
import { systemClock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Shares } from '../kernel/log.ts';
import type { ControlStore } from '../kernel/stores.ts';
import { accountSecrets } from '../platform/accounts/account-secrets.ts';
import { createHost, type Host, type Retention } from '../platform/hosting/host.ts';
import { readBudgets } from '../platform/metering/read-budgets.ts';
import { engineName, engineOver, type EngineName } from '../platform/hosting/engine.ts';
import { openLogger } from '../platform/hosting/open-logger.ts';
import type { HostedAgent } from '../platform/bundle/served-bundles.ts';
import { startMeasures, type StartedMeasures } from '../platform/hosting/start-measures.ts';
import { withReadiness } from '../platform/hosting/readiness.ts';
import {
  openControlOf,
  openLedgerOf,
  openNotesOf,
  pluginFolder,
  openStorage,
  type Storage,
} from '../platform/hosting/storage.ts';
import type { Context } from './context.ts';
import { parseDuration } from './drive-run.ts';

/** Options of what drives runs until it is told to stop. */
export interface ServingOptions {
  readonly removeEnded?: string;
  readonly removeArchived?: string;
  readonly budgets?: string;
  readonly lease?: string;
  readonly engine?: string;
  readonly tenantRuns?: string;
  readonly userRuns?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly memory?: boolean;
  readonly data?: string;
  readonly debug?: boolean;
}

/** A host with all that it keeps, before it drives. */
export interface Serving {
  readonly storage: Storage;
  readonly control: ControlStore;
  readonly host: Host;
  readonly measured: StartedMeasures;
  readonly logger: Logger;
  /** Rejects while nothing can be driven or answered. */
  readonly check: () => Promise<void>;
  /** Drains the host, unless that was done, and closes everything. */
  close(drainMs: number): Promise<void>;
}

/** Opens where runs are kept, and bundles over it. What was opened is closed again where anything fails. */
export async function openServing(
  { terminal, environment }: Context,
  bundles: readonly string[],
  options: ServingOptions,
  version: string,
): Promise<Serving> {
  const retention = retentionOf(options);
  const leaseMs = options.lease === undefined ? undefined : parseDuration(options.lease, '--lease');
  const budgets = options.budgets === undefined ? undefined : readBudgets(options.budgets);
  const logger = await openLogger({
    environment,
    level: options.logLevel ?? (options.debug === true ? 'debug' : undefined),
    format: options.logFormat,
    isTerminal: terminal.err.isTTY,
    color: terminal.errColors.isColorSupported,
  });
  const { memory, data } = options;
  const engine = engineName(options.engine, environment);
  refuseShares(options, engine);
  const storage = await openStorage({ memory, data, engine, environment, logger });
  const { log, check: checkLog } = withReadiness(storage.log, systemClock);
  const { relay } = storage;
  let control: ControlStore | undefined;
  let host: Host | undefined;
  let notes: LazyNotes | undefined;
  let measured: StartedMeasures | undefined;
  const close = async (drainMs: number): Promise<void> => {
    // What was spent to the end is counted while there is still somewhere to count it.
    await host?.drain({ drainMs });
    await host?.close();
    await measured?.stop();
    await notes?.close();
    await control?.close();
    if (host !== undefined) return;
    await storage.queue?.close();
    await log.close();
  };
  try {
    control = await openControlOf(storage);
    const secret = await control.secret('cursors');
    const ledger = await openLedgerOf(storage);
    const common = { environment, log, logger, version, clock: systemClock, ids: randomIds };
    measured = await startMeasures({ ...common, ledger, budgets });
    const accounts = { rows: control, secrets: await accountSecrets(control, environment) };
    notes = openNotesOf(storage);
    const shares = sharesOf(options, storage);
    const kept = {
      log,
      relay,
      selections: control,
      allowances: control,
      toolMemory: control,
      accounts,
      notes,
      pluginFolder: pluginFolder(storage),
      retention,
      engine: await engineOver(storage, leaseMs),
    };
    const { measures } = measured;
    host = await createHost({ bundles, secret, environment, logger, watch: true, measures, leaseMs, shares, ...kept });
    const { engine: driving } = host;
    const check = async (): Promise<void> => {
      await checkLog();
      driving.check?.();
    };
    return { storage, control, host, measured, logger, check, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** Ten years. */
const MOST_DAYS = 3_650;

function retentionOf({ removeEnded, removeArchived }: ServingOptions): Retention | undefined {
  if (removeEnded === undefined && removeArchived === undefined) return undefined;
  return {
    ...(removeEnded !== undefined && { endedDays: parseNumber(removeEnded, '--remove-ended', MOST_DAYS) }),
    ...(removeArchived !== undefined && { archivedDays: parseNumber(removeArchived, '--remove-archived', MOST_DAYS) }),
  };
}

/** In a database tenants take turns, whether or not they have a limit. */
function sharesOf({ tenantRuns, userRuns }: ServingOptions, { database }: Storage): Shares | undefined {
  if (tenantRuns === undefined && userRuns === undefined && database === undefined) return undefined;
  return {
    ...(tenantRuns !== undefined && { perTenant: parseNumber(tenantRuns, '--tenant-runs', MOST_RUNS) }),
    ...(userRuns !== undefined && { perUser: parseNumber(userRuns, '--user-runs', MOST_RUNS) }),
  };
}

const MOST_RUNS = 1_000_000;

/** DBOS takes conversations as they come. */
function refuseShares({ tenantRuns, userRuns }: ServingOptions, engine: EngineName): void {
  const named = tenantRuns === undefined ? (userRuns === undefined ? undefined : '--user-runs') : '--tenant-runs';
  if (engine === 'embedded' || named === undefined) return;
  throw new TreadleError('usage', {
    place: named,
    found: `the engine ${engine}`,
    wanted: 'the embedded engine, which counts what tenants and users have at work',
    hint: 'leave out one of the two',
  });
}

/** Throws `usage`. */
export function parseNumber(text: string, place: string, most: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Infinity;
  if (value <= most) return value;
  throw new TreadleError('usage', { place, found: JSON.stringify(text), wanted: `a number from 0 to ${most}` });
}

/** Agents as they may be asked for, all of them in one form: with their bundle as soon as one of them needs it. */
export function agentNames(agents: readonly HostedAgent[]): readonly string[] {
  const isMixed = agents.some(({ name }) => name.includes(':'));
  const full = ({ name, bundle }: HostedAgent): string =>
    name.includes(':') ? name : `${bundle.replace(/@[^@]*$/, '')}:${name}`;
  return agents.map((agent) => (isMixed ? full(agent) : agent.name));
}
