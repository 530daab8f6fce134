import { Argument, Command, Option } from 'commander';
import type { Context } from './context.ts';
import type { ChatOptions } from './commands/chat.ts';
import type { CheckOptions } from './commands/check.ts';
import type { ExplainOptions } from './commands/explain.ts';
import type { EvalOptions, PromoteOptions } from './commands/eval.ts';
import type { PlanOptions } from './commands/plan.ts';
import type { ReplayOptions } from './commands/replay.ts';
import type { ListOptions } from './commands/list.ts';
import type { ResumeOptions } from './commands/resume.ts';
import type { RunOptions } from './commands/run.ts';
import type { ShowOptions } from './commands/show.ts';
import { exitCodeTable, type Outcome } from './exit-codes.ts';
import { addAccounts } from './accounts-program.ts';
import { addLimitOptions } from './limit-options.ts';
import { addNotes } from './notes-program.ts';
import { addRuns } from './runs-program.ts';
import { addServer } from './server-program.ts';

/** Takes what a command came out with. */
type Finish = (outcome: Outcome) => void;

const AFTER_HELP = `
Exit codes
${exitCodeTable()}

Environment
  TREADLE_DATA          where runs are kept, instead of .treadle here
  DATABASE_URL          a PostgreSQL database in which they are kept
  TREADLE_URL           the server that runs, inspect and others speak to
  TREADLE_API_KEY       the key for it
  NO_COLOR              no colours
  TREADLE_DEBUG         the same as --debug
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, …
                        keys of models; without any, a script speaks
`;

/** Every command of the program. What a command needs is imported when it is run, so that help and --version stay quick. */
export function createProgram(context: Context, version: string, finish: Finish): Command {
  const program = new Command('treadle')
    .description('Agents that are declared in YAML, ask before they act, and write down everything they do.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({ helpWidth: Math.min(80, context.terminal.columns()) })
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError(true);

  const data = (): Option =>
    new Option('--data <folder>', 'where runs are kept (default: DATABASE_URL, else TREADLE_DATA, else .treadle here)');
  const debug = (): Option => new Option('--debug', 'print log lines of the program, and stacks');
  const approval = (): Option =>
    new Option('--on-approval <what>', 'when a person is needed: ask, leave it to wait, or deny').choices([
      'ask',
      'wait',
      'deny',
    ]);
  const timeout = (): Option => new Option('--timeout <time>', 'stop after so long, such as 30s or 2m');

  add(program, 'chat', 'talk with an agent in the terminal', [
    'treadle chat',
    'treadle chat agents/desk.yaml',
    'echo "8k in 10k" | treadle chat',
  ])
    .addArgument(new Argument('[bundle]', 'the YAML file of the agent (default: the example that comes with Treadle)'))
    .option('--agent <name>', 'the agent of the bundle')
    .option('--conversation <run>', 'go on with this run: an id, the beginning of one, or last')
    .option('--memory', 'keep nothing')
    .addOption(data())
    .addOption(debug())
    .action(async (bundle: string | undefined, options: ChatOptions) => {
      const { chat } = await import('./commands/chat.ts');
      finish(await chat(context, bundle, options));
    });

  add(program, 'run', 'say one thing, print the answer', [
    'treadle run agents/exposure.yaml "What is $8k of $10k?"',
    'cat report.txt | treadle run agents/desk.yaml "Sum this up"',
    'treadle run agents/desk.yaml --json --timeout 30s < question.txt',
  ])
    .argument('<bundle>', 'the YAML file of the agent')
    .argument('[text...]', 'the message; stdin where there is none, and also stdin for -')
    .option('--agent <name>', 'the agent of the bundle')
    .option('--conversation <run>', 'go on with this run: an id, the beginning of one, or last')
    .option('--json', 'print one line of JSON: status, iterations, toolCalls, answer or error, usage, runId')
    .addOption(timeout())
    .addOption(approval())
    .option('--memory', 'keep nothing')
    .option('-q, --quiet', 'nothing on stderr but errors')
    .addOption(data())
    .addOption(debug())
    .action(async (bundle: string, text: string[], options: RunOptions) => {
      const { run } = await import('./commands/run.ts');
      finish(await run(context, bundle, text, options));
    });

  const resumes = add(program, 'resume', 'go on with a run: after a stop, a crash or a question', [
    'treadle resume last',
    'treadle resume run_4c1k --allow',
    'treadle resume run_4c1k --reject t1-2-1-a1 --note "use the other list"',
    `treadle resume run_4c1k --edit t1-2-1-a1 '{"text": "call Bo"}'`,
    'treadle resume run_4c1k --reply "the second one"',
    'treadle resume run_4c1k --max-money 2.50',
  ])
    .argument('<run>', 'an id, the beginning of one, or last')
    .option('--text <words>', 'say this first')
    .addOption(requests('--allow [request]', 'let the action run; the request may be left out where one is open'))
    .addOption(requests('--reject [request]', 'refuse it'))
    .option('--note <words>', 'the reason for --reject, which the agent reads')
    .option('--edit <words...>', 'let it run with other arguments: [request] and JSON')
    .option('--reply <words...>', 'answer a question: [request] and text, or the number of a choice')
    .option('--bundle <file>', 'the bundle, where it is no longer where it was')
    .option('--json', 'print one line of JSON, as run does')
    .addOption(timeout())
    .addOption(approval())
    .option('-q, --quiet', 'nothing on stderr but errors')
    .addOption(data())
    .addOption(debug());
  addLimitOptions(resumes).action(async (named: string, options: ResumeOptions) => {
    const { resume } = await import('./commands/resume.ts');
    finish(await resume(context, named, options));
  });

  add(program, 'show', 'print a run as a story', [
    'treadle show last',
    'treadle show run_4c1k --log | jq .type',
    'treadle show last --format md > run.md',
  ])
    .argument('<run>', 'an id, the beginning of one, or last')
    .option('--log', 'print its facts instead, one JSON object a line')
    .option('--json', 'print its entries as JSON')
    .addOption(
      new Option('--format <format>', 'print it to keep: md, for people, or jsonl, an entry a line').choices([
        'md',
        'jsonl',
      ]),
    )
    .addOption(data())
    .addOption(debug())
    .action(async (named: string, options: ShowOptions) => {
      const { show } = await import('./commands/show.ts');
      finish(await show(context, named, options));
    });

  add(program, 'list', 'list runs, the newest first', ['treadle list', 'treadle list --status waiting --json'])
    .option('--limit <count>', 'how many (default: 20)')
    .option('--status <words>', 'working, waiting, ended, or statuses of runs, separated by commas')
    .option('--json', 'print them as JSON')
    .addOption(data())
    .addOption(debug())
    .action(async (options: ListOptions) => {
      const { list } = await import('./commands/list.ts');
      finish(await list(context, options));
    });

  add(program, 'replay', 'run a recorded run again, offline, and say what would be asked for otherwise', [
    'treadle replay last',
    'treadle replay run_4c1k --bundle new.yaml',
    'treadle replay run_4c1k --bundle new.yaml --json | jq .calls',
  ])
    .argument('<run>', 'an id, the beginning of one, or last')
    .option('--bundle <file>', 'under the rules of this bundle; under those of its own log where there is none')
    .option('--up-to <call>', 'end after this model call, counted from 1')
    .option('--json', 'print one JSON object')
    .option('--url <address>', 'a run of this server, which replays it')
    .option('--key <key>', 'an API key (default: TREADLE_API_KEY)')
    .addOption(data())
    .addOption(debug())
    .action(async (named: string, options: ReplayOptions) => {
      const { replay } = await import('./commands/replay.ts');
      finish(await replay(context, named, options));
    });

  const evals = add(program, 'eval', 'run a suite of cases and say which hold', [
    'treadle eval agents/evals/desk.yaml',
    'treadle eval suite.yaml --repeats 10 --junit report.xml --report report.json',
    'treadle eval promote last --to suite.yaml',
  ])
    .argument('[suite]', 'the YAML file of the suite')
    .option('--tag <tag...>', 'only cases with one of these tags')
    .option('--name <words>', 'only cases with this in their name')
    .option('--repeats <count>', 'how often each case is run, whatever the suite says')
    .option('--parallel <count>', 'how many run at the same time')
    .option('--json', 'print the report as one JSON object')
    .option('--report <file>', 'write the report as JSON')
    .option('--junit <file>', 'write it as JUnit XML')
    .option('-q, --quiet', 'no line for each case')
    .addOption(debug())
    .action(async (suite: string | undefined, options: EvalOptions) => {
      const { evaluate } = await import('./commands/eval.ts');
      finish(await evaluate(context, suite, options));
    });
  evals
    .command('promote')
    .description('make a case of a run, with what its tools gave as stubs')
    .argument('<run>', 'an id, the beginning of one, or last')
    .option('--to <suite>', 'add it to this file, or begin one (default: print it)')
    .option('--as <name>', 'what the case is called')
    .option('--scripted', 'what the model said goes into the case, too')
    .addOption(data())
    .addOption(debug())
    .action(async (named: string, options: PromoteOptions) => {
      const { promote } = await import('./commands/eval.ts');
      finish(await promote(context, named, options));
    });

  addRuns(program, context, finish);
  addAccounts(program, context, finish);
  addNotes(program, context, finish);
  addServer(program, context, version, finish);

  add(program, 'check', 'say what is wrong with bundles, and what their agents have', [
    'treadle check agents/*.yaml',
    'treadle check --explain agents/desk.yaml',
  ])
    .argument('<bundle...>', 'YAML files')
    .option('--explain', 'print every setting with the place it comes from')
    .addOption(debug())
    .action(async (files: string[], options: CheckOptions) => {
      const { check } = await import('./commands/check.ts');
      finish(await check(context, files, options));
    });

  add(program, 'explain', 'print every setting of an agent with the place it comes from', [
    'treadle explain agents/desk.yaml',
    'treadle explain main agents/desk.yaml --json',
  ])
    .argument('[words...]', 'a bundle and an agent of it, in either order (default: the example and its first agent)')
    .option('--agent <name>', 'the agent of the bundle')
    .option('--json', 'print one JSON object')
    .addOption(debug())
    .action(async (words: string[], options: ExplainOptions) => {
      const { explain } = await import('./commands/explain.ts');
      finish(await explain(context, words, options));
    });

  add(program, 'plan', 'say what an edit of a bundle allows, forbids and costs', [
    'treadle plan old.yaml new.yaml',
    'treadle plan old.yaml new.yaml --json | jq .agents',
  ])
    .argument('<old>', 'the YAML file as it is')
    .argument('<new>', 'the YAML file as it is to be')
    .option('--json', 'print one JSON object')
    .addOption(data())
    .addOption(debug())
    .action(async (before: string, after: string, options: PlanOptions) => {
      const { plan } = await import('./commands/plan.ts');
      finish(await plan(context, [before, after], options));
    });

  add(program, 'schema', 'print the JSON Schema of a bundle, for editors', [
    'treadle schema > bundle.schema.json',
    'treadle schema --suite > suite.schema.json',
  ])
    .option('--suite', 'that of a suite for eval instead')
    .action(async (options: { readonly suite?: boolean }) => {
      const { schema } = await import('./commands/schema.ts');
      finish(await schema(context, options.suite === true));
    });

  return program;
}

function add(program: Command, name: string, about: string, examples: readonly string[]): Command {
  const text = examples.map((one) => `  $ ${one}`).join('\n');
  return program
    .command(name)
    .description(about)
    .addHelpText('after', `\n${examples.length === 1 ? 'Example' : 'Examples'}\n${text}`);
}

/** An option that may come several times, each time with a request or without. */
function requests(flags: string, about: string): Option {
  return new Option(flags, about)
    .preset('')
    .argParser((given, before: readonly string[] | undefined) => [...(before ?? []), given]);
}
