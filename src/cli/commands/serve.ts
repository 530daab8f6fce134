import path from 'node:path';
import process from 'node:process';
import { randomIds } from '../../base/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { createImages } from '../../adapters/net/images.ts';
import type { OidcOptions } from '../../http/oidc.ts';
import { pageFolder } from '../../http/page.ts';
import { startServer, type TreadleServer } from '../../http/server.ts';
import { removeServerFile, writeServerFile } from '../../platform/hosting/server-file.ts';
import type { Context } from '../context.ts';
import { parseDuration } from '../drive-run.ts';
import type { Outcome } from '../exit-codes.ts';
import { openPage } from '../open-page.ts';
import { agentNames, openServing, parseNumber, type ServingOptions } from '../serving.ts';
import { counted } from '../text.ts';
import { untilTold } from '../until-told.ts';
import { parseScopes } from './keys.ts';

export interface ServeOptions extends ServingOptions {
  readonly port?: string;
  readonly host?: string;
  readonly publicUrl?: string;
  readonly cors?: readonly string[];
  readonly remoteImages?: boolean;
  readonly rate?: string;
  /** False where others drive what is begun here. */
  readonly drive?: boolean;
  readonly drain?: string;
  readonly oidcIssuer?: string;
  readonly oidcAudience?: string;
  readonly oidcJwks?: string;
  readonly oidcUserClaim?: string;
  readonly oidcTenantClaim?: string;
  readonly oidcScopes?: string;
  readonly open?: boolean;
}

/** Serves bundles until a signal comes. The second signal ends the process at once; nothing in the log is lost by it. */
export async function serve(
  context: Context,
  bundles: readonly string[],
  options: ServeOptions,
  version: string,
): Promise<Outcome> {
  const { terminal, environment } = context;
  const settings = settingsOf(options);
  const serving = await openServing(context, bundles, options, version);
  const { storage, control, host, measured, logger } = serving;
  let server: TreadleServer | undefined;
  const folder = storage.file === undefined ? undefined : path.dirname(storage.file);
  const close = async (drainMs: number): Promise<void> => {
    if (folder !== undefined && server !== undefined) removeServerFile(folder, process.pid);
    // At once: runs come to a good place while replies go out, and neither takes time from the other.
    await Promise.all([server?.close({ drainMs }), host.drain({ drainMs })]);
    await serving.close(drainMs);
  };
  try {
    const page = pageFolder();
    server = await startServer({
      ...settings,
      host,
      control,
      logger,
      version,
      page,
      images: options.remoteImages === false ? undefined : createImages(),
      clock: systemClock,
      ids: randomIds,
      check: serving.check,
      figures: measured.figures,
    });
    await measured.watch(host);
    if (options.drive !== false) await host.start();
    if (folder !== undefined) writeServerFile(folder, { url: server.url, pid: process.pid });
    const told = { url: server.url, agents: agentNames(host.agents()), place: storage.place };
    const isOpen = settings.oidc === undefined && !(await control.any());
    terminal.out.write(greeting({ ...told, isOpen, hasPage: page !== undefined, drives: options.drive !== false }));
    if (options.open === true && page !== undefined) await openPage(server.url, environment, logger);
    await untilTold(context, logger, settings.drainMs);
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

interface Settings {
  readonly port: number;
  readonly hostname: string;
  readonly publicUrl: string | undefined;
  readonly cors: readonly string[];
  readonly rate: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly drainMs: number;
  readonly oidc: OidcOptions | undefined;
}

function settingsOf(options: ServeOptions): Settings {
  const perSecond = options.rate === undefined ? undefined : parseNumber(options.rate, '--rate', RATE_MAX);
  return {
    port: options.port === undefined ? PORT : parseNumber(options.port, '--port', 65_535),
    hostname: options.host ?? '127.0.0.1',
    publicUrl: options.publicUrl === undefined ? undefined : checkedUrl(options.publicUrl, '--public-url').href,
    cors: (options.cors ?? []).map((origin) => checkedOrigin(origin)),
    rate: perSecond === undefined ? undefined : { perSecond, burst: perSecond * 10 },
    drainMs: options.drain === undefined ? 10_000 : parseDuration(options.drain, '--drain'),
    oidc: oidcOf(options),
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
  readonly place: string | undefined;
  readonly drives: boolean;
  readonly isOpen: boolean;
  readonly hasPage: boolean;
}): string {
  const rows = [
    ['agents', `${counted(told.agents.length, 'agent')}: ${told.agents.join(', ')}`],
    ['runs', `${told.place ?? 'kept nowhere'}${told.drives ? '' : '; driven elsewhere'}`],
    ['keys', told.isOpen ? 'none yet, so only this machine is let in; `treadle keys create` makes one' : 'needed'],
    ['page', told.hasPage ? told.url : 'not built; `npm start` in a clone builds it, and so does `npm run build`'],
    ['docs', `${told.url}/api/docs`],
  ];
  const lines = rows.map(([label = '', text = '']) => `  ${label.padEnd(8)}${text}\n`);
  return `Treadle listens on ${told.url}\n${lines.join('')}`;
}
