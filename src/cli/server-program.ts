import { Option, type Command } from 'commander';
import type { CreateKeyOptions, KeyOptions } from './commands/keys.ts';
import type { MigrateOptions } from './commands/migrate.ts';
import type { ServeOptions } from './commands/serve.ts';
import type { TransferOptions } from './commands/transfer.ts';
import type { WorkerOptions } from './commands/worker.ts';
import type { Context } from './context.ts';
import type { Outcome } from './exit-codes.ts';

const SERVE_EXAMPLES = `
Examples
  $ treadle serve agents/desk.yaml
  $ treadle serve agents/*.yaml --port 8080 --data /var/lib/treadle
  $ treadle serve agents/desk.yaml --host 0.0.0.0 --public-url https://agents.example.com`;

const WORKER_EXAMPLES = `
Examples
  $ DATABASE_URL=postgres://agents@db/agents treadle worker agents/*.yaml
  $ treadle worker agents/*.yaml --probes 9090
  $ DATABASE_URL=postgres://agents@db/agents treadle worker agents/*.yaml --engine dbos`;

const MIGRATE_EXAMPLES = `
Examples
  $ DATABASE_URL=postgres://owner@db/agents treadle migrate
  $ DATABASE_URL=postgres://owner@db/agents treadle migrate --engine dbos`;

const EXPORT_EXAMPLES = `
Examples
  $ treadle export --data .treadle | DATABASE_URL=postgres://agents@db/agents treadle import
  $ treadle export run_4c1k --out run.jsonl`;

const IMPORT_EXAMPLES = `
Examples
  $ treadle import run.jsonl
  $ treadle export --data .treadle | DATABASE_URL=postgres://agents@db/agents treadle import`;

const KEYS_EXAMPLES = `
Examples
  $ treadle keys create --name laptop
  $ treadle keys create --name ci --user ci --scopes read,run --expires 90d
  $ treadle keys create --name sandbox --compute
  $ treadle keys revoke 4c1d0e2a9b7d6f35`;

/** The commands of a server: run it, and say who may use it. */
export function addServer(
  program: Command,
  context: Context,
  version: string,
  finish: (outcome: Outcome) => void,
): void {
  const data = (): Option =>
    new Option('--data <folder>', 'where runs are kept (default: DATABASE_URL, else TREADLE_DATA, else .treadle here)');
  const engine = (): Option =>
    new Option('--engine <name>', 'what hands out runs: embedded or dbos (default: TREADLE_ENGINE, else embedded)');
  const debug = (): Option => new Option('--debug', 'print log lines of the program, and stacks');

  program
    .command('serve')
    .description('answer the run API and drive runs, until it is told to stop')
    .addHelpText('after', SERVE_EXAMPLES)
    .argument('<bundle...>', 'YAML files; the first one has the default agent')
    .option('--port <number>', 'where to listen; 0 for any that is free (default: 4114)')
    .option('--host <address>', 'others can reach another one than 127.0.0.1, so that needs a key (default: 127.0.0.1)')
    .option('--public-url <url>', 'how others call this server, where a proxy stands before it')
    .option('--cors <origin...>', 'pages of other sites that may call it')
    .option('--no-remote-images', 'fetch no image that an answer names, whoever asks to see it')
    .option('--rate <number>', 'requests a second for each key; 0 for no limit (default: 200)')
    .option('--remove-ended <days>', 'remove runs that ended so many days ago (default: keep them)')
    .option('--remove-archived <days>', 'the same of archived ones')
    .option('--budgets <file>', 'what users and tenants may spend a day and a month, as YAML or JSON')
    .option('--drain <time>', 'how long running work may go on after a signal (default: 10s)')
    .option('--tenant-runs <number>', 'the most runs of one tenant that are at work at a time (default: no limit)')
    .option('--user-runs <number>', 'the same of one user')
    .option('--lease <time>', 'how long a process that died keeps its runs from the others (default: 15s)')
    .addOption(engine())
    .option('--no-drive', 'only answer: runs are driven by workers on the same database')
    .option('--oidc-issuer <url>', 'also let in who has a token of this OpenID Connect issuer')
    .option('--oidc-audience <name>', 'what such a token calls this server')
    .option('--oidc-jwks <url>', 'where the keys of the issuer are, where it does not say so itself')
    .option('--oidc-user-claim <name>', 'the claim that says who it is (default: sub)')
    .option('--oidc-tenant-claim <name>', 'the claim that says of which tenant; all are of local without it')
    .option('--oidc-scopes <list>', 'what a token may do that says nothing of it, such as read,run')
    .addOption(new Option('--log-level <level>', 'debug, info, warn, error or silent (default: info)'))
    .addOption(new Option('--log-format <format>', 'json or text (default: text for people, json for programs)'))
    .option('--open', 'show the page in the browser')
    .option('--memory', 'keep nothing')
    .addOption(data())
    .addOption(debug())
    .action(async (bundles: string[], options: ServeOptions) => {
      const { serve } = await import('./commands/serve.ts');
      finish(await serve(context, bundles, options, version));
    });

  program
    .command('worker')
    .description('drive the runs that servers on the same database began, until it is told to stop')
    .addHelpText('after', WORKER_EXAMPLES)
    .argument('<bundle...>', 'the YAML files that the servers serve')
    .option('--probes <port>', 'answer /health, /ready and /metrics there; 0 for any that is free (default: nowhere)')
    .option('--probes-host <address>', 'on which address (default: 127.0.0.1)')
    .option('--remove-ended <days>', 'remove runs that ended so many days ago (default: keep them)')
    .option('--remove-archived <days>', 'the same of archived ones')
    .option('--budgets <file>', 'what users and tenants may spend a day and a month, as YAML or JSON')
    .option('--drain <time>', 'how long running work may go on after a signal (default: 10s)')
    .option('--tenant-runs <number>', 'the most runs of one tenant that are at work at a time (default: no limit)')
    .option('--user-runs <number>', 'the same of one user')
    .option('--lease <time>', 'how long a process that died keeps its runs from the others (default: 15s)')
    .addOption(engine())
    .addOption(new Option('--log-level <level>', 'debug, info, warn, error or silent (default: info)'))
    .addOption(new Option('--log-format <format>', 'json or text (default: text for people, json for programs)'))
    .addOption(data())
    .addOption(debug())
    .action(async (bundles: string[], options: WorkerOptions) => {
      const { work } = await import('./commands/worker.ts');
      finish(await work(context, bundles, options, version));
    });

  program
    .command('migrate')
    .description('make the tables of DATABASE_URL, or bring them up to date')
    .addHelpText('after', MIGRATE_EXAMPLES)
    .addOption(engine())
    .action(async (options: MigrateOptions) => {
      const { migrateDatabase } = await import('./commands/migrate.ts');
      finish(await migrateDatabase(context, options));
    });

  program
    .command('export')
    .description('print conversations, so that another place can have them')
    .addHelpText('after', EXPORT_EXAMPLES)
    .argument('[run...]', 'these, with all below them: ids, or the beginnings of some (default: all)')
    .option('--out <file>', 'write them there')
    .addOption(data())
    .addOption(debug())
    .action(async (named: string[], options: TransferOptions & { out?: string }) => {
      const { exportRuns } = await import('./commands/transfer.ts');
      finish(await exportRuns(context, named, options));
    });

  program
    .command('import')
    .addHelpText('after', IMPORT_EXAMPLES)
    .description('put exported conversations where runs are kept; what waits goes on waiting, what worked goes on')
    .argument('[file]', 'what was exported (default: standard input)')
    .addOption(data())
    .addOption(debug())
    .action(async (file: string | undefined, options: TransferOptions) => {
      const { importRuns } = await import('./commands/transfer.ts');
      finish(await importRuns(context, file, options));
    });

  const keys = program
    .command('keys')
    .description('keys of the run API: make, list and revoke them')
    .addHelpText('after', KEYS_EXAMPLES);
  keys
    .command('create')
    .description('make a key and print it, once')
    .option('--name <words>', 'what it is for')
    .option('--user <id>', 'whose runs it reaches (default: local)')
    .option('--tenant <id>', 'of which tenant (default: local)')
    .option('--scopes <list>', 'read, run, approve, admin, with commas between (default: read,run,approve)')
    .option('--expires <time>', 'how long it is good for, such as 12h or 90d; for ever without it')
    .option('--compute', 'for a sandbox: it may touch no run')
    .option('--json', 'print it as JSON')
    .addOption(data())
    .addOption(debug())
    .action(async (options: CreateKeyOptions) => {
      const { createKey } = await import('./commands/keys.ts');
      finish(await createKey(context, options));
    });
  keys
    .command('list')
    .description('list keys, the newest first')
    .option('--json', 'print them as JSON')
    .addOption(data())
    .addOption(debug())
    .action(async (options: KeyOptions) => {
      const { listKeys } = await import('./commands/keys.ts');
      finish(await listKeys(context, options));
    });
  keys
    .command('revoke')
    .description('make a key useless, at once')
    .argument('<key>', 'its id, or the beginning of it')
    .addOption(data())
    .addOption(debug())
    .action(async (named: string, options: KeyOptions) => {
      const { revokeKey } = await import('./commands/keys.ts');
      finish(await revokeKey(context, named, options));
    });
}
