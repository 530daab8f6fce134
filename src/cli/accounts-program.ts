import type { Command } from 'commander';
import type { AccountOptions, ConnectOptions } from './commands/accounts.ts';
import type { Context } from './context.ts';
import type { Outcome } from './exit-codes.ts';
import { withServer } from './runs-program.ts';

const EXAMPLES = `
Examples
  $ treadle accounts list
  $ treadle accounts connect slack
  $ treadle accounts connect mcp.knowledge --bundle agents/desk.yaml
  $ treadle accounts disconnect slack

They are those of a server, or, with --bundle, your own in the data folder, for
runs in this terminal. An account mcp.… is a tool server that you sign in to.`;

/** The accounts that tools use for their user. */
export function addAccounts(program: Command, context: Context, finish: (outcome: Outcome) => void): void {
  const load = () => import('./commands/accounts.ts');
  const accounts = program
    .command('accounts')
    .description('accounts elsewhere that tools use for you: see, connect and disconnect them')
    .addHelpText('after', EXAMPLES);
  const add = (usage: string, about: string): Command =>
    withServer(accounts.command(usage).description(about)).option(
      '--bundle <file>',
      'no server: those that this YAML file declares, kept in the data folder',
    );
  add('list', 'list the accounts that you may connect, and those that you have').action(
    async (options: AccountOptions) => finish(await (await load()).listAccounts(context, options)),
  );
  add('connect <account>', 'sign in: opens the browser, or prints where to go, and waits until you are back')
    .option('--claims <list>', 'rights to ask for besides, with commas between')
    .option('--port <number>', 'with --bundle: where the browser comes back to (default: 4114)')
    .action(async (account: string, options: ConnectOptions) =>
      finish(await (await load()).connectAccount(context, account, options)),
    );
  withServer(
    accounts
      .command('finish <address>')
      .description('end a sign-in by the address that the browser came back to, where it could not'),
  ).action(async (address: string, options: AccountOptions) =>
    finish(await (await load()).finishSignIn(context, address, options)),
  );
  add('disconnect <account>', 'forget an account here, and take its tokens back there').action(
    async (account: string, options: AccountOptions) =>
      finish(await (await load()).disconnectAccount(context, account, options)),
  );
}
