import { z } from 'zod';
import { isObject } from '../../../base/json.ts';
import { iterationsOf } from '../../../domain/conversation.ts';
import type { ToolContext, ToolReturn } from '../../../kernel/running-tool.ts';
import type { RunningCommand, Shell, ShellEnd } from '../../../kernel/shell.ts';
import {
  configuredGroup,
  defineTool,
  isToolReturn,
  toolFailure,
  toolResult,
  type BuiltinGroup,
  type ToolSpec,
} from '../../../kernel/tool.ts';
import { judgeCommand, previewCommand, startCommand } from './command.ts';
import { shellConfig, type ShellConfig } from './config.ts';
import { Jobs } from './jobs.ts';

const command = z.string().min(1).max(20_000).describe('The command, for bash.');
const folder = z.string().max(4_096).default('').describe('Where it starts, from the folder that you work in.');
const job = z.string().min(1).max(100).describe('The job, as shell_start named it.');

const MOST_WAIT_MS = 30_000;
/** Characters of progress that are told at once. */
const MOST_TOLD = 4_000;

/** Commands in the folder of the entry. A bundle has to name the group: nobody is granted a shell by accident. */
export function shellGroup(shell: Shell): BuiltinGroup {
  const jobs = new Jobs();
  return {
    ...configuredGroup({
      name: 'shell',
      needsFiles: true,
      config: shellConfig,
      tools: (config) => tools(shell, config, jobs),
    }),
    onTurnEnd: (conversation) => jobs.endAll(conversation),
  };
}

function tools(shell: Shell, config: ShellConfig, jobs: Jobs): readonly ToolSpec[] {
  const most = config.timeout_ms ?? 120_000;
  const run = defineTool({
    name: 'shell_run',
    description:
      'Run one command in bash and wait for its end. Output and errors come together, with the exit code. Every command ' +
      'starts anew: no variables or folders are left of the one before. A person may be asked first: simple commands one ' +
      'at a time, without variables and substitutions, are asked about least.',
    input: z.strictObject({
      command,
      folder,
      timeout_ms: z.int().min(100).max(most).default(most).describe('Milliseconds after which it is ended.'),
    }),
    effect: 'once',
    timeoutMs: 0,
    judge: (args, context) => judgeCommand(shell, config, args, context),
    preview: (args, context) => previewCommand(shell, config, args, context),
    async run(args, context) {
      const running = await startCommand(shell, config, args, context);
      return isToolReturn(running) ? running : await wait(running, args.timeout_ms, context);
    },
  });
  const start = defineTool({
    name: 'shell_start',
    description:
      'Start a command in the background, such as a server, and go on. Read what it says with shell_output, end it with ' +
      'shell_stop; it ends with the turn in any case.',
    input: z.strictObject({ command, folder }),
    effect: 'once',
    judge: (args, context) => judgeCommand(shell, config, args, context),
    preview: (args, context) => previewCommand(shell, config, args, context),
    async run(args, context) {
      const mostJobs = config.max_jobs ?? 4;
      if (jobs.atWork(context.conversationId) >= mostJobs) {
        return toolFailure('too_many', `At most ${mostJobs} jobs run at the same time: stop one first.`);
      }
      const running = await startCommand(shell, config, args, context);
      if (isToolReturn(running)) return running;
      jobs.add(context.conversationId, context.actionId, running);
      return toolResult({ value: { job: context.actionId, state: 'running' } });
    },
  });
  const output = defineTool({
    name: 'shell_output',
    description: 'What a job has said since you last asked, and whether it still runs.',
    input: z.strictObject({
      job,
      wait_ms: z.int().min(0).max(MOST_WAIT_MS).default(0).describe('Milliseconds to wait for its end.'),
    }),
    effect: 'read',
    repeatable: true,
    timeoutMs: MOST_WAIT_MS + 5_000,
    async run({ job: id, wait_ms }, context) {
      const found = jobs.find(context.conversationId, id);
      if (found === undefined) return gone(id, context);
      if (wait_ms > 0) await within(found.running, wait_ms, context.signal);
      return said({ job: id, ...stateOf(found.end()) }, found.running.fresh());
    },
  });
  const stop = defineTool({
    name: 'shell_stop',
    description: 'End a job and all that it started.',
    input: z.strictObject({ job }),
    effect: 'idempotent',
    async run({ job: id }, context) {
      const found = jobs.find(context.conversationId, id);
      if (found === undefined) return gone(id, context);
      found.running.stop();
      await within(found.running, MOST_WAIT_MS, context.signal);
      return said({ job: id, ...stateOf(found.end()) }, found.running.fresh());
    },
  });
  return [run, start, output, stop];
}

/** The end of a command, or ours: what it has said until then is kept either way. */
async function wait(running: RunningCommand, timeoutMs: number, context: ToolContext): Promise<ToolReturn> {
  const telling = setInterval(() => {
    const text = running.fresh();
    if (text !== '') context.progress({ text: text.slice(-MOST_TOLD) });
  }, 250);
  try {
    const end = await within(running, timeoutMs, context.signal);
    if (end === undefined) {
      running.stop();
      await running.ended;
    }
    const { text } = running.output();
    if (context.signal.aborted) {
      const message = 'It was stopped by the user while it ran.';
      return toolFailure('cancelled', message, { uncertain: true, value: { output: text.slice(-MOST_TOLD) } });
    }
    return end === undefined ? said({ exit_code: null, timed_out_after_ms: timeoutMs }, text) : said(ending(end), text);
  } finally {
    clearInterval(telling);
  }
}

/** The end of a command, as long as it comes in time. */
function within(running: RunningCommand, ms: number, signal: AbortSignal): Promise<ShellEnd | undefined> {
  return new Promise((resolve, reject) => {
    const done = (end?: ShellEnd): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(end);
    };
    const abort = (): void => done();
    const timer = setTimeout(abort, ms);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    running.ended.then(done, (error: unknown) => {
      done();
      reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
}

function ending({ exitCode, signal }: ShellEnd): Record<string, number | string | null> {
  return signal === undefined ? { exit_code: exitCode ?? null } : { exit_code: null, killed_by: signal };
}

function stateOf(end: ShellEnd | undefined): Record<string, number | string | null> {
  return end === undefined ? { state: 'running' } : { state: 'ended', ...ending(end) };
}

function said(value: Record<string, number | string | null>, text: string): ToolReturn {
  return toolResult({
    value,
    ...(text !== '' && { content: [{ type: 'text', text, format: 'terminal' }] }),
  });
}

/** A job that the log knows and this process does not has ended with the turn or the process that it ran in. */
function gone(id: string, { conversation: { turn, turns } }: ToolContext): ToolReturn {
  for (const one of [...turns, ...(turn === undefined ? [] : [turn])]) {
    for (const { actions } of iterationsOf(one)) {
      const value = actions.find(({ action }) => action.id === id)?.observation?.value;
      if (isObject(value) && value['job'] === id) {
        const why = one === turn ? 'Treadle was started again' : 'its turn is over';
        return toolFailure('lost', `The job ${id} has ended, because ${why}; what it said last is lost.`);
      }
    }
  }
  return toolFailure('unknown_job', `There is no job ${id}.`);
}
