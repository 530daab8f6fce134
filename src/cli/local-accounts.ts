import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { isoTime, systemClock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { Account } from '../client/index.ts';
import type { Logger } from '../kernel/logger.ts';
import { accountSecrets } from '../platform/accounts/account-secrets.ts';
import { createAccounts } from '../platform/accounts/accounts.ts';
import { providersOf } from '../platform/accounts/account-providers.ts';
import { CONTROL_FILE, dataFolder, makeDataFolder } from '../platform/hosting/data-folder.ts';
import type { Environment } from '../platform/bundle/environment.ts';
import { loadForReading } from './load-bundle.ts';

const CALLBACK = '/api/v1/accounts/callback';
/** Of a server too, so that an app is told of one address. */
const DEFAULT_PORT = 4114;
const ME = { tenant: 'local', userId: 'local' };

/** A sign-in that was begun. */
export interface Begun {
  readonly authorizationUrl: string;
  readonly expiresAt: string;
  /** Settles once the user is back. Rejects where nothing came of it. */
  readonly ended: Promise<Account>;
}

/** The accounts of whoever runs agents in this terminal, for the providers of one bundle. */
export interface LocalAccounts {
  list(): Promise<readonly Account[]>;
  connect(provider: string, claims: readonly string[] | undefined, port: number | undefined): Promise<Begun>;
  disconnect(provider: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Throws what loading a bundle and opening the data folder throw. */
export async function openLocalAccounts(
  bundle: string,
  { data, environment }: { readonly data: string | undefined; readonly environment: Environment },
): Promise<LocalAccounts> {
  const loaded = await loadForReading(bundle, environment);
  const folder = dataFolder({ named: data, environment, directory: process.cwd() });
  makeDataFolder(folder);
  const { openSqliteControlStore } = await import('../adapters/stores/control/sqlite.ts');
  const control = await openSqliteControlStore({ file: path.join(folder, CONTROL_FILE), clock: systemClock });
  const accounts = createAccounts({
    providers: () => providersOf(loaded.bundle),
    rows: control,
    secrets: await accountSecrets(control, environment),
    clock: systemClock,
    logger: silent,
  });
  const told = (one: Awaited<ReturnType<typeof accounts.list>>[number]): Account => ({
    ...one,
    claims: [...one.claims],
  });
  return {
    list: async () => (await accounts.list(ME)).map(told),
    async connect(provider, claims, port = DEFAULT_PORT) {
      const door = await openDoor(port);
      try {
        const { url, until } = await accounts.connect(ME, provider, { claims, redirectUrl: door.address });
        const timer = setTimeout(() => door.close(new Error('the sign-in took too long')), until - systemClock.now());
        const ended = door
          .back(async (callback) => told((await accounts.finish(callback)).account))
          .finally(() => clearTimeout(timer));
        ended.catch(() => undefined); // whoever waits for it may come later than it
        return { authorizationUrl: url.href, expiresAt: isoTime(until), ended };
      } catch (error) {
        door.close(new Error('nobody was sent away'));
        throw error;
      }
    },
    disconnect: (provider) => accounts.disconnect(ME, provider),
    async close() {
      await loaded.close();
      control.close();
    },
  };
}

interface Door {
  readonly address: string;
  /** What the browser comes back with, given to whoever ends the sign-in; the browser is told what came of it. */
  back<T>(finish: (callback: URLSearchParams) => Promise<T>): Promise<T>;
  close(why: Error): void;
}

/** Listens on this machine alone for one browser that comes back. Throws `usage` where somebody else listens there. */
async function openDoor(port: number): Promise<Door> {
  let come: ((callback: URLSearchParams) => Promise<string>) | undefined;
  let shut: (why: Error) => void = () => undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const say = (status: number, text: string): void =>
      void response
        .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
        .end(`${text}\n`);
    if (url.pathname !== CALLBACK || come === undefined) {
      say(404, 'There is nothing here.');
      return;
    }
    come(url.searchParams).then(
      (text) => say(200, text),
      () => say(400, 'The account is not connected. The terminal says why.'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', () =>
      reject(
        new TreadleError('usage', {
          place: '--port',
          found: `${port}, where somebody else listens`,
          hint: 'name another one; or leave --bundle out, where a server is up there',
        }),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = server.address();
  const at = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    address: `http://127.0.0.1:${at}${CALLBACK}`,
    back: (finish) =>
      new Promise((resolve, reject) => {
        shut = reject;
        come = async (callback) => {
          try {
            resolve(await finish(callback));
            return 'The account is connected. You can close this window.';
          } catch (error) {
            // Somebody else's callback ends nothing: the one that was begun may still come.
            if (!(error instanceof TreadleError && error.code === 'sign_in_invalid'))
              reject(error instanceof Error ? error : new Error(String(error)));
            throw error;
          } finally {
            setTimeout(() => server.close(), 100).unref();
          }
        };
      }),
    close(why) {
      shut(why);
      server.close();
      server.closeAllConnections();
    },
  };
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
