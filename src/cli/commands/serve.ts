import path from 'node:path';
import process from 'node:process';
import { randomIds } from '../../base/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { createMemoryControlStore } from '../../adapters/stores/control/memory.ts';
import type { LazyNotes } from '../../adapters/stores/notes/lazy.ts';
import type { OidcOptions } from '../../http/oidc.ts';
import { pageFolder } from '../../http/page.ts';
import { startServer, type TreadleServer } from '../../http/server.ts';
import type { ControlStore } from '../../kernel/stores.ts';
import { accountSecrets } from '../../platform/account-secrets.ts';
import { createHost, type Host, type Retention } from '../../platform/host.ts';
import { CONTROL_FILE } from '../../platform/data-folder.ts';
import { readBudgets } from '../../platform/metering/read-budgets.ts';
import { removeServerFile, writeServerFile } from '../../platform/server-file.ts';
import { openLogger } from '../../platform/open-logger.ts';
import { startMeasures, type StartedMeasures } from '../../platform/start-measures.ts';
import type { Context } from '../context.ts';
import { parseDuration } from '../drive-run.ts';
import { EXIT_CODES, type Outcome } from '../exit-codes.ts';
import { notesIn, openLog } from '../open.ts';
import { openPage } from '../open-page.ts';
import { counted } from '../text.ts';
import { openControl, parseScopes } from './keys.ts';

export interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
  readonly publicUrl?: string;
  readonly cors?: readonly string[];
  readonly rate?: string;
  readonly removeEnded?: string;
  readonly removeArchived?: string;
  readonly budgets?: string;
  readonly drain?: string;
  readonly oidcIssuer?: string;
  readonly oidcAudience?: string;
  readonly oidcJwks?: string;
  readonly oidcUserClaim?: string;
  readonly oidcTenantClaim?: string;
  readonly oidcScopes?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly open?: boolean;
  readonly memory?: boolean;
  readonly data?: string;
  readonly debug?: boolean;
}

/** Serves bundles until a signal comes. The second signal ends the process at once; nothing in the log is lost by it. */
export async function serve(
  { terminal, environment }: Context,
  bundles: readonly string[],
  options: ServeOptions,
  version: string,
): Promise<Outcome> {
  const settings = settingsOf(options);
  const logger = await openLogger({
    environment,
    level: options.logLevel ?? (options.debug === true ? 'debug' : undefined),
    format: options.logFormat,
    isTerminal: terminal.err.isTTY,
    color: terminal.errColors.isColorSupported,
  });
  const { log, file } = await openLog({ memory: options.memory, data: options.data, environment });
  let control: ControlStore | undefined;
  let host: Host | undefined;
  let server: TreadleServer | undefined;
  let notes: LazyNotes | undefined;
  let measured: StartedMeasures | undefined;
  const folder = file === undefined ? undefined : path.dirname(file);
  const close = async (drainMs: number): Promise<void> => {
    if (folder !== undefined && server !== undefined) removeServerFile(folder, process.pid);
    await server?.close({ drainMs });
    await host?.close({ drainMs });
    if (host === undefined) await log.close();
    await measured?.stop();
    await notes?.close();
    await control?.close();
  };
  try {
    control =
      options.memory === true
        ? createMemoryControlStore({ clock: systemClock })
        : (await openControl(options.data, environment)).control;
    const page = pageFolder();
    const secret = await control.secret('cursors');
    measured = await startMeasures({
      ...{ environment, log, logger, version, clock: systemClock, ids: randomIds },
      file: folder === undefined ? undefined : path.join(folder, CONTROL_FILE),
      budgets: options.budgets === undefined ? undefined : readBudgets(options.budgets),
    });
    const { measures, figures } = measured;
    const accounts = { rows: control, secrets: await accountSecrets(control, environment) };
    notes = folder === undefined ? undefined : notesIn(path.join(folder, CONTROL_FILE));
    const kept = { log, selections: control, allowances: control, accounts, notes, retention: settings.retention };
    host = await createHost({ bundles, secret, environment, logger, watch: true, measures, ...kept });
    server = await startServer({
      ...settings,
      host,
      control,
      logger,
      version,
      page,
      clock: systemClock,
      ids: randomIds,
      check: () => log.list({ limit: 1 }),
      figures,
    });
    await measured.watch(host);
    await host.start();
    if (folder !== undefined) writeServerFile(folder, { url: server.url, pid: process.pid });
    const told = { url: server.url, agents: host.agents().map(({ name }) => name), file };
    const isOpen = settings.oidc === undefined && !(await control.any());
    terminal.out.write(greeting({ ...told, isOpen, hasPage: page !== undefined }));
    if (options.open === true && page !== undefined) await openPage(server.url, environment, logger);
    const signal = await firstSignal();
    onSignal((second) => process.exit(EXIT_CODES[second === 'SIGINT' ? 'interrupted' : 'terminated'].code));
    logger.info('shutting down', { signal, drainMs: settings.drainMs });
    terminal.err.write('Letting work under way finish; once more ends it at once.\n');
    await close(settings.drainMs);
    logger.info('shut down');
    return 'completed';
  } catch (error) {
    await close(0);
    throw error;
  }
}

const PORT = 4114;
const RATE_MAX = 1_000_000;
/** Ten years. */
const MOST_DAYS = 3_650;

interface Settings {
  readonly port: number;
  readonly hostname: string;
  readonly publicUrl: string | undefined;
  readonly cors: readonly string[];
  readonly rate: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly drainMs: number;
  readonly retention: Retention | undefined;
  readonly oidc: OidcOptions | undefined;
}

function settingsOf(options: ServeOptions): Settings {
  const perSecond = options.rate === undefined ? undefined : number(options.rate, '--rate', RATE_MAX);
  return {
    port: options.port === undefined ? PORT : number(options.port, '--port', 65_535),
    hostname: options.host ?? '127.0.0.1',
    publicUrl: options.publicUrl === undefined ? undefined : checkedUrl(options.publicUrl, '--public-url').href,
    cors: (options.cors ?? []).map((origin) => checkedOrigin(origin)),
    rate: perSecond === undefined ? undefined : { perSecond, burst: perSecond * 10 },
    drainMs: options.drain === undefined ? 10_000 : parseDuration(options.drain, '--drain'),
    retention: retentionOf(options),
    oidc: oidcOf(options),
  };
}

function retentionOf({ removeEnded, removeArchived }: ServeOptions): Retention | undefined {
  if (removeEnded === undefined && removeArchived === undefined) return undefined;
  return {
    ...(removeEnded !== undefined && { endedDays: number(removeEnded, '--remove-ended', MOST_DAYS) }),
    ...(removeArchived !== undefined && { archivedDays: number(removeArchived, '--remove-archived', MOST_DAYS) }),
  };
}

function oidcOf(options: ServeOptions): OidcOptions | undefined {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcJwks: jwks } = options;
  if (issuer === undefined) {
    if (audience === undefined && jwks === undefined) return undefined;
    throw new TreadleError('usage', { place: '--oidc-issuer', found: 'nothing', wanted: 'the address of the issuer' });
  }
  if (audience === undefined)
    throw new TreadleError('usage', {
      place: '--oidc-audience',
      found: 'nothing',
      wanted: 'what tokens call this server',
      hint: 'without it, a token for any other service of the issuer would be let in',
    });
  checkedUrl(issuer, '--oidc-issuer');
  return {
    issuer, // as it is written: tokens have to say the same
    audience,
    jwks: jwks === undefined ? undefined : checkedUrl(jwks, '--oidc-jwks').href,
    userClaim: options.oidcUserClaim,
    tenantClaim: options.oidcTenantClaim,
    scopes: options.oidcScopes === undefined ? undefined : parseScopes(options.oidcScopes, '--oidc-scopes'),
  };
}

function number(text: string, place: string, most: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Infinity;
  if (value <= most) return value;
  throw new TreadleError('usage', { place, found: JSON.stringify(text), wanted: `a number from 0 to ${most}` });
}

function checkedUrl(text: string, place: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new TreadleError('usage', {
    place,
    found: JSON.stringify(text),
    wanted: 'an address such as https://example.com',
  });
}

function checkedOrigin(text: string): string {
  const url = URL.parse(text);
  if (url !== null && url.origin === text.replace(/\/$/, '')) return url.origin;
  throw new TreadleError('usage', {
    place: '--cors',
    found: JSON.stringify(text),
    wanted: 'an origin such as https://example.com',
    hint: text === '*' ? 'name the sites: with *, any page that anybody opens could drive the agents' : undefined,
  });
}

function greeting(told: {
  readonly url: string;
  readonly agents: readonly string[];
  readonly file: string | undefined;
  readonly isOpen: boolean;
  readonly hasPage: boolean;
}): string {
  const rows = [
    ['agents', `${counted(told.agents.length, 'agent')}: ${told.agents.join(', ')}`],
    ['runs', told.file ?? 'kept nowhere'],
    ['keys', told.isOpen ? 'none yet, so only this machine is let in; `treadle keys create` makes one' : 'needed'],
    ...(told.hasPage ? [['page', told.url]] : []),
    ['docs', `${told.url}/api/docs`],
  ];
  const lines = rows.map(([label = '', text = '']) => `  ${label.padEnd(8)}${text}\n`);
  return `Treadle listens on ${told.url}\n${lines.join('')}`;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function onSignal(listener: (signal: NodeJS.Signals) => void): void {
  for (const signal of SIGNALS) process.once(signal, listener);
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const heard = (signal: NodeJS.Signals): void => {
      for (const one of SIGNALS) process.off(one, heard);
      resolve(signal);
    };
    for (const one of SIGNALS) process.on(one, heard);
  });
}
