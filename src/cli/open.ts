import { existsSync } from 'node:fs';
import { commandName } from './command-name.ts';
import path from 'node:path';
import process from 'node:process';
import { systemClock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import { randomIds } from '../base/ids.ts';
import { toJson } from '../base/json.ts';
import type { Ledger } from '../kernel/ledger.ts';
import type { AllowanceStore } from '../kernel/choices.ts';
import type { ConversationRow, Log } from '../kernel/log.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ControlStore, ToolMemory } from '../kernel/stores.ts';
import { CONTROL_FILE } from '../platform/hosting/data-folder.ts';
import type { Environment } from '../platform/bundle/environment.ts';
import type { Platform } from '../platform/platform.ts';
import type { Storage } from '../platform/hosting/storage.ts';

/** Options that several commands share, as the command line gives them. */
export interface CommonOptions {
  readonly data?: string | undefined;
  readonly debug?: boolean | undefined;
}

/** The bundle of the first run: beside `src` in the sources and beside `dist` in the package. */
export const FIRST_BUNDLE = path.join(import.meta.dirname, '../../agents/exposure.yaml');

export interface LogOptions extends CommonOptions {
  /** Nothing is kept. */
  readonly memory?: boolean | undefined;
  /** Nothing will be stated: a log that cannot be written will do. */
  readonly reads?: boolean | undefined;
  readonly environment: Environment;
  readonly logger?: Logger | undefined;
}

/** The log of the database or the data folder. Throws `log_unavailable` and what else opening a log throws. */
export async function openLog(options: LogOptions): Promise<Storage> {
  const { openStorage } = await import('../platform/hosting/storage.ts');
  return openStorage(options);
}

export interface PlatformOptions extends CommonOptions {
  readonly bundle: string;
  /** The platform closes it, and so does a start that fails. */
  readonly log: Log;
  /** Where the log is, as `openLog` said: choices made through a server of the same folder count here too. */
  readonly file: string | undefined;
  readonly environment: Environment;
}

/** A bundle, running. */
export async function openPlatform({ bundle, log, file, debug, environment }: PlatformOptions): Promise<Platform> {
  let control: ControlStore | undefined;
  let ledger: Ledger | undefined;
  try {
    const { createPlatform } = await import('../platform/platform.ts');
    const { databaseOf, openLedgerOf, openNotesOf, pluginFolder } = await import('../platform/hosting/storage.ts');
    const notes = openNotesOf({ file, database: databaseOf(log) });
    const logger = debug === true ? { logger: stderrLogger } : {};
    control = await openChoices(log, file);
    const kept = control === undefined ? {} : await keptIn(control, environment);
    const beside = control ?? (file === undefined ? undefined : madeLater(file, (made) => (control = made)));
    // The whole path: a run may be resumed from another directory.
    const platform = await createPlatform({
      bundle: path.resolve(bundle),
      environment,
      log,
      ...logger,
      ...kept,
      allowances: beside,
      toolMemory: beside,
      notes,
      pluginFolder: pluginFolder({ file }),
      async meteringOf(loaded) {
        const { localMetering } = await import('../platform/metering/local-metering.ts');
        const openLedger = async (): Promise<Ledger> =>
          (ledger = await openLedgerOf({ file, database: databaseOf(log) }));
        const by = { clock: systemClock, ids: randomIds, logger: debug === true ? stderrLogger : silentLogger };
        return localMetering(loaded, { ...by, log, openLedger });
      },
    });
    const close = async (options?: Parameters<Platform['close']>[0]): Promise<void> => {
      await platform.close(options);
      await notes?.close();
      await ledger?.close();
      await control?.close();
    };
    // Its own properties are asked each time: an edit of the bundle changes them.
    return Object.create(platform, { close: { value: close } }) as Platform; // a platform with another end
  } catch (error) {
    await ledger?.close();
    await control?.close();
    await log.close();
    throw error;
  }
}

async function keptIn(control: ControlStore, environment: Environment) {
  const { accountSecrets } = await import('../platform/accounts/account-secrets.ts');
  return { selections: control, accounts: { rows: control, secrets: await accountSecrets(control, environment) } };
}

/** What a server keeps beside the log. Nobody made choices where there is none. */
async function openChoices(log: Log, file: string | undefined): Promise<ControlStore | undefined> {
  const { controlFile, databaseOf, openControlOf } = await import('../platform/hosting/storage.ts');
  const database = databaseOf(log);
  if (database === undefined && (file === undefined || !existsSync(controlFile(file)))) return undefined;
  return openControlOf({ file, database });
}

/** The same place before there is one: it is made with the first thing that has to be kept. */
function madeLater(logFile: string, onMade: (control: ControlStore) => void): AllowanceStore & ToolMemory {
  let opened: Promise<ControlStore> | undefined;
  const open = async (): Promise<ControlStore> => {
    const { openSqliteControlStore } = await import('../adapters/stores/control/sqlite.ts');
    const file = path.join(path.dirname(logFile), CONTROL_FILE);
    const control = await openSqliteControlStore({ file, clock: systemClock });
    onMade(control);
    return control;
  };
  return {
    addAllowance: async (owner, given) => (await (opened ??= open())).addAllowance(owner, given),
    allowancesOf: async (owner) => (opened === undefined ? [] : (await opened).allowancesOf(owner)),
    revokeAllowance: async (owner, id, at) => (await (opened ??= open())).revokeAllowance(owner, id, at),
    toolsOf: async (user) => (opened === undefined ? [] : (await opened).toolsOf(user)),
    rememberTool: async (user, tool) => (await (opened ??= open())).rememberTool(user, tool),
  };
}

const PAGE = 200;
const MOST_MATCHES = 5;

/** The run that `last`, an id or the beginning of one stands for. Throws `conversation_unknown` and `usage`. */
export async function findRun(log: Pick<Log, 'find' | 'list'>, named: string): Promise<ConversationRow> {
  if (named === 'last') {
    const [newest] = await log.list({ limit: 1, top: true });
    if (newest !== undefined) return newest;
    throw new TreadleError('conversation_unknown', {
      found: 'an empty log',
      wanted: 'a run',
      hint: `start one with \`${commandName()} chat\``,
    });
  }
  const exact = await log.find(named);
  if (exact !== undefined) return exact;
  const matches: ConversationRow[] = [];
  for (let before: ConversationRow | undefined; matches.length < MOST_MATCHES;) {
    // A run below another one has that one's id and more: it is meant only where that is said.
    const top = named.includes('.') ? undefined : true;
    const page: readonly ConversationRow[] = await log.list({ limit: PAGE, before, top });
    const begins = (id: string): boolean => [named, `run_${named}`].some((one) => id.startsWith(one));
    matches.push(...page.filter(({ id }) => begins(id) || begins(shortId(id))));
    before = page.at(-1);
    if (page.length < PAGE) break;
  }
  const [match, other] = matches;
  if (match !== undefined && other === undefined) return match;
  if (match === undefined) {
    throw new TreadleError('conversation_unknown', {
      found: JSON.stringify(named),
      hint: `see \`${commandName()} list\``,
    });
  }
  const some = matches.slice(0, MOST_MATCHES).map((row) => row.id);
  throw new TreadleError('usage', {
    place: 'RUN',
    found: `${JSON.stringify(named)}, which is the beginning of several runs`,
    wanted: some.join(' or '),
  });
}

/** Characters of an id that are shown where people choose: enough to be the only ones of a log. */
export function shortId(id: string): string {
  const below = id.indexOf('.');
  return id.slice(0, 'run_'.length + 8) + (below < 0 ? '' : id.slice(below));
}

function line(level: string) {
  return (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    process.stderr.write(`${level}: ${message} ${JSON.stringify(toJson(fields))}\n`);
  };
}

const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const stderrLogger: Logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
