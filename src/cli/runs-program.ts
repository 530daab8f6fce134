import { addLimitOptions, type LimitOptions } from './limit-options.ts';
import { Option, type Command } from 'commander';
import { ALLOW_SCOPES } from '../domain/allowance.ts';
import type { AllowanceOptions } from './commands/allowances.ts';
import type { InspectOptions } from './commands/inspect.ts';
import type {
  AnswerOptions,
  ApproveOptions,
  ExportOptions,
  RunsListOptions,
  RunsStartOptions,
  UsageOptions,
} from './commands/runs.ts';
import type { WatchOptions } from './commands/runs-watch.ts';
import type { Context } from './context.ts';
import type { Outcome } from './exit-codes.ts';
import type { RemoteOptions } from './remote.ts';

const EXAMPLES = `
Examples
  $ treadle runs start "Clear the desk" --agent main
  $ treadle runs watch last
  $ treadle runs approve run_4c1k
  $ treadle runs list --status waiting --url https://treadle.example

A server is found by --url, by TREADLE_URL, or by the data folder that it serves
on this machine. Keys come from --key or TREADLE_API_KEY.`;

/** The commands that speak to a server, wherever it is. */
export function addRuns(program: Command, context: Context, finish: (outcome: Outcome) => void): void {
  const load = () => import('./commands/runs.ts');
  const runs = program
    .command('runs')
    .description('runs on a server: start, watch, answer, steer and stop them')
    .addHelpText('after', EXAMPLES);

  const add = (usage: string, about: string): Command => withServer(runs.command(usage).description(about));

  add('list', 'list runs, the newest first')
    .option('--status <words>', 'working, waiting, ended, or statuses of runs, separated by commas')
    .option('--agent <name>', 'of this agent')
    .option('--title <words>', 'that have this in their title')
    .option('--archived', 'those that were put away')
    .option('--limit <count>', 'how many (default: 20)')
    .action(async (options: RunsListOptions) => finish(await (await load()).listRuns(context, options)));
  add('start', 'start a run, and leave it to itself')
    .argument('[text...]', 'what to do; stdin where there is none, and also stdin for -')
    .option('--agent <name>', 'the agent, as the server calls it')
    .option('--max-iterations <count>', 'model calls it may make, where that is less than the agent may')
    .action(async (text: string[], options: RunsStartOptions) =>
      finish(await (await load()).startRun(context, text, options)),
    );
  add('show <run>', 'print a run as a story, and what it waits for').action(
    async (run: string, options: RemoteOptions) => finish(await (await load()).showRun(context, run, options)),
  );
  add('watch <run>', 'print what happens in a run, until its end')
    .addOption(
      new Option('--on-approval <what>', 'when a person is needed: ask, leave it to wait, or stay').choices([
        'ask',
        'wait',
        'stay',
      ]),
    )
    .option('--timeout <time>', 'leave after so long, such as 30s or 2m; the run goes on')
    .action(async (run: string, options: WatchOptions) => {
      const { watch } = await import('./commands/runs-watch.ts');
      finish(await watch(context, run, options));
    });
  add('approve <run> [request]', 'let an action run, or a plan go on; the request may be left out where one is open')
    .option('--note <words>', 'a remark, which the agent reads')
    .addOption(
      new Option('--allow <scope>', 'how far the yes reaches, where the request offers it (default: once)').choices(
        ALLOW_SCOPES,
      ),
    )
    .action(async (run: string, request: string | undefined, options: ApproveOptions) =>
      finish(await (await load()).approveRun(context, run, request, options)),
    );
  add('reject <run> [request]', 'refuse it; the run goes on without')
    .option('--note <words>', 'the reason, which the agent reads')
    .action(async (run: string, request: string | undefined, options: AnswerOptions) =>
      finish(await (await load()).rejectRun(context, run, request, options)),
    );
  add('edit <run> <words...>', 'let an action run with other arguments: [request] and JSON')
    .option('--note <words>', 'a remark, which the agent reads')
    .action(async (run: string, words: string[], options: AnswerOptions) =>
      finish(await (await load()).editRun(context, run, words, options)),
    );
  add('reply <run> <words...>', 'answer a question: [request] and text, or the number of a choice').action(
    async (run: string, words: string[], options: RemoteOptions) =>
      finish(await (await load()).replyRun(context, run, words, options)),
  );
  add('say <run> [text...]', 'say something before the next model call; to an ended run, it begins a turn').action(
    async (run: string, text: string[], options: RemoteOptions) =>
      finish(await (await load()).sayToRun(context, run, text, 'say', options)),
  );
  add('steer <run> [text...]', 'say something at once: what the agent was about to do is set aside').action(
    async (run: string, text: string[], options: RemoteOptions) =>
      finish(await (await load()).sayToRun(context, run, text, 'steer', options)),
  );
  add('stop <run>', 'ask a run, and all runs below it, to stop').action(async (run: string, options: RemoteOptions) =>
    finish(await (await load()).moveRun(context, run, 'stop', options)),
  );
  addLimitOptions(add('resume <run>', 'open a turn again that was stopped, or that a limit ended')).action(
    async (run: string, options: RemoteOptions & LimitOptions) =>
      finish(await (await load()).moveRun(context, run, 'resume', options)),
  );
  add('fork <run>', 'begin a new run whose past is a copy')
    .option('--at <entry>', 'the entry after which the copy ends (default: all of it)')
    .action(async (run: string, options: RemoteOptions & { readonly at?: string }) =>
      finish(await (await load()).forkRun(context, run, options)),
    );
  add('archive <run>', 'put a run away: lists leave it out')
    .option('--undo', 'bring it back')
    .action(async (run: string, options: RemoteOptions & { readonly undo?: boolean }) =>
      finish(await (await load()).archiveRun(context, run, options)),
    );
  add('delete <run>', 'remove a run, and all it holds, for good; its id has to be given in full').action(
    async (run: string, options: RemoteOptions) => finish(await (await load()).removeRun(context, run, options)),
  );
  add('export <run>', 'print all of a run: its facts, or what was said and done for people or programs')
    .addOption(
      new Option('--format <format>', 'facts, one a line; md, for people; jsonl, an entry a line')
        .choices(['facts', 'md', 'jsonl'])
        .default('facts'),
    )
    .action(async (run: string, options: ExportOptions) =>
      finish(await (await load()).exportRun(context, run, options)),
    );
  add('usage', 'print what was spent')
    .addOption(new Option('--by <what>', 'sums for each (default: day)').choices(['user', 'agent', 'model', 'day']))
    .option('--from <day>', 'a day in UTC, such as 2026-07-31, included')
    .option('--to <day>', 'a day in UTC, included')
    .action(async (options: UsageOptions) => finish(await (await load()).showUsage(context, options)));

  addAllowances(program, context, finish);

  withServer(
    program
      .command('inspect [run]')
      .description('print how a run on a server stands, in counts and states: no text, no ids')
      .option('--fixture', 'read two pages that come with the program instead, and ask no server')
      .addHelpText(
        'after',
        '\nExamples\n  $ treadle inspect                 the newest run\n  $ treadle inspect run_4c1k --url https://treadle.example',
      ),
  ).action(async (run: string | undefined, options: InspectOptions) => {
    const { inspect } = await import('./commands/inspect.ts');
    finish(await inspect(context, run, options));
  });
}

const ALLOWANCE_EXAMPLES = `
Examples
  $ treadle allowances list
  $ treadle allowances list --run last
  $ treadle allowances revoke allow_0f3a9c1d2b4e5f60`;

function addAllowances(program: Command, context: Context, finish: (outcome: Outcome) => void): void {
  const load = () => import('./commands/allowances.ts');
  const allowances = program
    .command('allowances')
    .description('what you have allowed for more than one action: see it, and take it back')
    .addHelpText('after', ALLOWANCE_EXAMPLES);
  withServer(
    allowances
      .command('list')
      .description('list what is allowed for always, the newest first')
      .option('--run <run>', 'also what was allowed for this run alone'),
  ).action(async (options: AllowanceOptions) => finish(await (await load()).listAllowances(context, options)));
  withServer(
    allowances
      .command('revoke <id>')
      .description('take it back: the next such action asks again')
      .option('--run <run>', 'the run that it was allowed for, where it was for one alone'),
  ).action(async (id: string, options: AllowanceOptions) =>
    finish(await (await load()).revokeAllowance(context, id, options)),
  );
}

/** The options of every command that speaks to a server. */
export function withServer(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .option('--url <address>', 'the server (default: TREADLE_URL, else the one of the data folder)')
    .option('--key <key>', 'an API key (default: TREADLE_API_KEY)')
    .option('--data <folder>', 'whose server it is (default: TREADLE_DATA, else .treadle here)')
    .option('--debug', 'print stacks');
}
