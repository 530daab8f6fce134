import type { Allowance } from '../../client/index.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { shortId } from '../open.ts';
import { findRemoteRun, openClient, type RemoteOptions } from '../remote.ts';
import { harmless, oneLine } from '../text.ts';

export interface AllowanceOptions extends RemoteOptions {
  readonly run?: string;
}

/** Prints what the user has allowed for always, and with a run what was allowed for that one. */
export async function listAllowances(context: Context, options: AllowanceOptions): Promise<Outcome> {
  const { terminal } = context;
  const client = openClient(context, options);
  const run = options.run === undefined ? undefined : await findRemoteRun(client, options.run);
  const found = await client.allowances(run);
  if (options.json === true) terminal.out.write(`${JSON.stringify(found)}\n`);
  else if (found.length === 0) terminal.err.write('Nothing is allowed beyond single actions.\n');
  else terminal.out.write(found.map((one) => `${allowanceLine(one)}\n`).join(''));
  return 'completed';
}

/** Takes one back: the next such action asks again. */
export async function revokeAllowance(context: Context, id: string, options: AllowanceOptions): Promise<Outcome> {
  const client = openClient(context, options);
  const run = options.run === undefined ? undefined : await findRemoteRun(client, options.run);
  await client.revokeAllowance(id, run);
  context.terminal.err.write(`Revoked ${harmless(id)}.\n`);
  return 'completed';
}

function allowanceLine({ id, scope, about, agent, run, by, at }: Allowance): string {
  const where = scope === 'always' ? `always, with ${agent}` : `in ${shortId(run)}`;
  return `${id}  ${oneLine(harmless(about), 60)}  ${where}  by ${oneLine(by, 40)}, ${at.slice(0, 10)}`;
}
