import path from 'node:path';
import process from 'node:process';
import { isoTime, systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { newApiKey } from '../../http/api-key.ts';
import { SCOPES, type ApiKey, type ControlStore, type Scope } from '../../kernel/stores.ts';
import { dataFolder, LOG_FILE, makeDataFolder } from '../../platform/hosting/data-folder.ts';
import type { Environment } from '../../platform/bundle/environment.ts';
import { didYouMean } from '../../platform/bundle/problems.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { ago, oneLine } from '../text.ts';

export interface KeyOptions {
  readonly json?: boolean;
  readonly data?: string;
  readonly debug?: boolean;
}

export interface CreateKeyOptions extends KeyOptions {
  readonly name?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly scopes?: string;
  readonly expires?: string;
  readonly compute?: boolean;
}

const ID = /^[\w.@:-]{1,200}$/;

/** Makes a key. It is printed here, once, and kept nowhere. */
export async function createKey({ terminal, environment }: Context, options: CreateKeyOptions): Promise<Outcome> {
  if (options.compute === true && options.scopes !== undefined)
    throw new TreadleError('usage', {
      place: '--scopes',
      found: '--compute with it',
      wanted: 'one of the two: a key for a sandbox has no scopes',
    });
  const now = systemClock.now();
  const { key, id, hash } = newApiKey();
  const entry: ApiKey = {
    id,
    hash,
    name: oneLine(options.name ?? 'unnamed', 100),
    kind: options.compute === true ? 'compute' : 'user',
    scopes: options.compute === true ? [] : parseScopes(options.scopes ?? 'read,run,approve', '--scopes'),
    userId: checkedId(options.user ?? 'local', '--user'),
    tenant: checkedId(options.tenant ?? 'local', '--tenant'),
    createdAt: now,
    expiresAt: options.expires === undefined ? undefined : now + parseLife(options.expires),
  };
  const { control, folder } = await openControl(options.data, environment);
  try {
    await control.add(entry);
  } finally {
    await control.close();
  }
  if (options.json === true) {
    terminal.out.write(`${JSON.stringify({ key, ...told(entry) })}\n`);
    return 'completed';
  }
  terminal.out.write(`${key}\n`);
  const may = entry.kind === 'compute' ? 'a sandbox: it may touch no run' : entry.scopes.join(', ');
  terminal.err.write(
    `For ${entry.userId} of ${entry.tenant}: ${may}. Kept as a hash in ${folder}; it is not shown again.\n`,
  );
  return 'completed';
}

/** Prints the keys there are, revoked ones too. */
export async function listKeys({ terminal, environment }: Context, options: KeyOptions): Promise<Outcome> {
  const { control, folder } = await openControl(options.data, environment);
  const keys = await control.list();
  await control.close();
  if (options.json === true) terminal.out.write(`${JSON.stringify(keys.map(told))}\n`);
  else if (keys.length === 0) terminal.err.write(`No keys in ${folder}: only this machine is let in.\n`);
  else terminal.out.write(keys.map((key) => `${keyLine(key, systemClock.now())}\n`).join(''));
  return 'completed';
}

/** Makes a key useless for every server of the data folder. */
export async function revokeKey(
  { terminal, environment }: Context,
  named: string,
  options: KeyOptions,
): Promise<Outcome> {
  const { control } = await openControl(options.data, environment);
  try {
    const id = named.replace(/^sk-/, '').split('-')[0] ?? '';
    const [key, other] = id === '' ? [] : (await control.list()).filter((one) => one.id.startsWith(id));
    if (key === undefined || other !== undefined) {
      const found = JSON.stringify(named.slice(0, 40));
      throw new TreadleError('usage', {
        place: 'KEY',
        found: key === undefined ? `${found}, which is no key here` : `${found}, which is the beginning of several`,
        hint: 'see `treadle keys list`',
      });
    }
    await control.revoke(key.id, systemClock.now());
    terminal.err.write(`Revoked ${key.id} (${key.name}).\n`);
    return 'completed';
  } finally {
    await control.close();
  }
}

/** What a server keeps besides the log, and where that is. */
export async function openControl(
  data: string | undefined,
  environment: Environment,
): Promise<{ readonly control: ControlStore; readonly folder: string }> {
  const { databaseUrl, openControlOf } = await import('../../platform/hosting/storage.ts');
  const url = databaseUrl({ data, environment });
  if (url !== undefined) {
    const { openPostgresControlStore } = await import('../../adapters/stores/control/postgres.ts');
    const { readDatabaseUrl } = await import('../../adapters/stores/postgres/settings.ts');
    return { control: await openPostgresControlStore({ url }), folder: readDatabaseUrl(url).place };
  }
  const folder = dataFolder({ named: data, environment, directory: process.cwd() });
  makeDataFolder(folder);
  return { control: await openControlOf({ file: path.join(folder, LOG_FILE) }), folder };
}

/** Throws `usage`. */
export function parseScopes(text: string, place: string): readonly Scope[] {
  const words = text.split(',').map((word) => word.trim());
  for (const word of words) {
    if (SCOPES.some((scope) => scope === word)) continue;
    throw new TreadleError('usage', {
      place,
      found: JSON.stringify(word),
      wanted: SCOPES.join(', '),
      hint: didYouMean(word, SCOPES),
    });
  }
  return SCOPES.filter((scope) => words.includes(scope));
}

function checkedId(text: string, place: string): string {
  if (ID.test(text)) return text;
  throw new TreadleError('usage', {
    place,
    found: JSON.stringify(text),
    wanted: '1 to 200 letters, digits and . _ @ : -',
  });
}

function parseLife(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,5})(m|h|d)$/.exec(text.trim()) ?? [];
  const ms = Number(digits) * ({ m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 0);
  if (ms > 0) return ms;
  throw new TreadleError('usage', {
    place: '--expires',
    found: JSON.stringify(text),
    wanted: 'a time such as 30m, 12h or 90d',
  });
}

/** A key without its hash. */
function told({ hash: _hash, createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }: ApiKey): Record<string, unknown> {
  const time = (at: number | undefined): string | undefined => (at === undefined ? undefined : isoTime(at));
  return {
    ...rest,
    createdAt: time(createdAt),
    expiresAt: time(expiresAt),
    revokedAt: time(revokedAt),
    lastUsedAt: time(lastUsedAt),
  };
}

function keyLine(key: ApiKey, now: number): string {
  const state =
    key.revokedAt !== undefined
      ? 'revoked'
      : key.expiresAt !== undefined && key.expiresAt <= now
        ? 'out of date'
        : key.lastUsedAt === undefined
          ? 'never used'
          : `used ${ago(now - key.lastUsedAt)}`;
  const may = key.kind === 'compute' ? 'compute' : key.scopes.join(',');
  return `${key.id}  ${key.name}  ${key.tenant}/${key.userId}  ${may}  ${state}`;
}
