import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Account, Client } from '../../client/index.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { openLocalAccounts } from '../local-accounts.ts';
import { openPage } from '../open-page.ts';
import { openClient, serverKey, serverUrl, type RemoteOptions } from '../remote.ts';
import { harmless, oneLine } from '../text.ts';

export interface AccountOptions extends RemoteOptions {
  readonly bundle?: string;
}

export interface ConnectOptions extends AccountOptions {
  readonly claims?: string;
  readonly port?: string;
}

/** Prints the accounts, those that nobody has connected too. */
export async function listAccounts(context: Context, options: AccountOptions): Promise<Outcome> {
  const { terminal } = context;
  const found = await withLocal(
    context,
    options,
    (local) => local.list(),
    () => openClient(context, options).accounts(),
  );
  if (options.json === true) terminal.out.write(`${JSON.stringify(found)}\n`);
  else if (found.length === 0) terminal.err.write('Nothing declares an account.\n');
  else terminal.out.write(found.map((one) => `${accountLine(one)}\n`).join(''));
  return 'completed';
}

/** Sends the person away to sign in, and waits until they are back. */
export async function connectAccount(context: Context, provider: string, options: ConnectOptions): Promise<Outcome> {
  const claims = options.claims
    ?.split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const connected = await withLocal(
    context,
    options,
    async (local) => {
      const begun = await local.connect(provider, claims, portOf(options.port));
      await sendAway(context, begun.authorizationUrl);
      return begun.ended;
    },
    async () => {
      const client = openClient(context, options);
      const before = await accountOf(client, provider);
      const begun = await client.connectAccount(provider, claims);
      await sendAway(context, begun.authorizationUrl);
      if (serverKey(context.environment, options) !== undefined) {
        const hint = 'Where the browser is told that it did not begin this, hand its address over:\n';
        context.terminal.err.write(`${hint}  treadle accounts finish 'ADDRESS'\n`);
      }
      return comesBack(client, provider, before, Date.parse(begun.expiresAt));
    },
  );
  if (options.json === true) context.terminal.out.write(`${JSON.stringify(connected)}\n`);
  else context.terminal.err.write(`${harmless(connected.label)} is connected.\n`);
  return 'completed';
}

/** Ends a sign-in that was begun here and came back to a browser that the server does not know. */
export async function finishSignIn(context: Context, address: string, options: AccountOptions): Promise<Outcome> {
  const query = URL.parse(address)?.search ?? '';
  if (!query.includes('state='))
    throw new TreadleError('usage', {
      place: 'ADDRESS',
      found: JSON.stringify(address.slice(0, 80)),
      wanted: 'the whole address that the browser came back to, with code and state',
    });
  const key = serverKey(context.environment, options);
  const url = `${serverUrl(context.environment, options).replace(/\/$/, '')}/api/v1/accounts/callback${query}`;
  const reply = await fetch(url, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } });
  const page = await reply.text();
  const [, title = 'The server says nothing'] = /<h1>([^<]*)<\/h1>/.exec(page) ?? [];
  const [, text = ''] = /<p>([^<]*)<\/p>/.exec(page) ?? [];
  if (!reply.ok) throw new TreadleError('sign_in_invalid', { found: harmless(`${title}. ${text}`) });
  context.terminal.err.write(`${harmless(title)}.\n`);
  return 'completed';
}

/** Forgets an account. */
export async function disconnectAccount(context: Context, provider: string, options: AccountOptions): Promise<Outcome> {
  await withLocal(
    context,
    options,
    async (local) => {
      if (!(await local.disconnect(provider)))
        throw new TreadleError('account_unmet', { place: provider, hint: 'it was not connected' });
    },
    () => openClient(context, options).disconnectAccount(provider),
  );
  context.terminal.err.write(`${harmless(provider)} is disconnected.\n`);
  return 'completed';
}

type Local = Awaited<ReturnType<typeof openLocalAccounts>>;

async function withLocal<T>(
  { environment }: Context,
  { bundle, data }: AccountOptions,
  here: (local: Local) => Promise<T>,
  there: () => Promise<T>,
): Promise<T> {
  if (bundle === undefined) return there();
  const local = await openLocalAccounts(bundle, { data, environment });
  try {
    return await here(local);
  } finally {
    await local.close();
  }
}

async function sendAway({ terminal, environment }: Context, url: string): Promise<void> {
  terminal.err.write(`Sign in here:\n\n  ${harmless(url)}\n\n`);
  if (terminal.err.isTTY) await openPage(url, environment, silent);
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const LOOK_MS = 1_000;

/** Until the account is there that was not, or is another one. */
async function comesBack(
  client: Client,
  provider: string,
  before: Account | undefined,
  until: number,
): Promise<Account> {
  while (systemClock.now() < until) {
    const now = await accountOf(client, provider);
    if (now?.status === 'connected' && now.connectedAt !== before?.connectedAt) return now;
    await new Promise<void>((resolve) => systemClock.after(LOOK_MS, resolve));
  }
  throw new TreadleError('sign_in_invalid', {
    place: provider,
    found: 'a sign-in that took too long',
    hint: 'begin again',
  });
}

async function accountOf(client: Client, provider: string): Promise<Account | undefined> {
  return (await client.accounts()).find((one) => one.provider === provider);
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  throw new TreadleError('usage', { place: '--port', found: JSON.stringify(text), wanted: 'a number from 0 to 65535' });
}

function accountLine({ provider, label, status, claims, connectedAt }: Account): string {
  const said = { none: 'not connected', connected: 'connected', broken: 'to be connected anew' }[status];
  const since = connectedAt === undefined ? '' : ` since ${connectedAt.slice(0, 10)}`;
  const may = claims.length === 0 ? '' : `: ${claims.join(', ')}`;
  const name = label === provider ? '' : `  ${oneLine(harmless(label), 40)}`;
  return `${provider}${name}  ${said}${since}${oneLine(harmless(may), 200)}`;
}
