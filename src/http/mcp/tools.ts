import {
  inputRequired,
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { shortDigest } from '../../base/digest.ts';
import type { HostedAgent } from '../../platform/hosting/host.ts';
import type { Caller, Scope } from '../../platform/runs/caller.ts';
import type { Runs } from '../../platform/runs/runs.ts';
import type { Snapshot } from '../../platform/runs/snapshot.ts';
import { refusalOf } from '../refusal.ts';
import { answersIn, canAsk, formsFor } from './elicit.ts';
import { outcome, resultOf } from './outcome.ts';
import { untilRest } from './rest.ts';

export interface McpPorts {
  readonly runs: Runs;
  readonly agents: () => readonly HostedAgent[];
  readonly clock: Clock;
  readonly version: string;
}

/** Seconds a tool waits for a run when nobody says: less than the minute after which most clients give up. */
const WAIT_S = 50;
const WAIT_S_MAX = 3_600;

const run = z.string().describe('The id of a run.');
const wait = z
  .number()
  .min(0)
  .max(WAIT_S_MAX)
  .optional()
  .describe(`Seconds to wait for it, ${WAIT_S} when absent. The run itself goes on.`);

type ToolResult = CallToolResult | InputRequiredResult;

/** The tools of one caller: each agent that it may start, and what it may do with runs. */
export function createTools({ runs, agents, clock, version }: McpPorts, caller: Caller): McpServer {
  const server = new McpServer({ name: 'treadle', version }, { capabilities: { tools: {} } });
  const may = (scope: Scope): boolean => caller.scopes.has(scope) || caller.scopes.has('admin');

  /** Waits for the run, and asks the person behind the caller what the run waits for, where that can be done. */
  async function awaited(started: Snapshot, context: ServerContext, waitS = WAIT_S): Promise<ToolResult> {
    const { signal } = context.mcpReq;
    const snapshot = await untilRest(started.id, {
      runs,
      clock,
      caller,
      signal,
      waitMs: waitS * 1_000,
      onProgress: progressOf(context),
    });
    const { id, requests, terminal } = snapshot;
    if (signal.aborted && !terminal) return resultOf(await runs.stop(caller, id));
    if (terminal || requests.length === 0 || !canAsk(requests, caller, context)) return resultOf(snapshot);
    return inputRequired({ inputRequests: formsFor(requests), requestState: id });
  }

  /** The second round of a call: what the person said, if anything. A request that was left open is handed back. */
  async function goneOn(id: string, context: ServerContext, waitS?: number): Promise<ToolResult> {
    const answers = answersIn(context.mcpReq.inputResponses);
    if (answers.length === 0) return resultOf(await runs.snapshot(caller, id));
    await runs.answer(caller, id, answers);
    return awaited(await runs.snapshot(caller, id), context, waitS);
  }

  const tried =
    <A>(work: (args: A, context: ServerContext) => Promise<ToolResult>) =>
    async (args: A, context: ServerContext): Promise<ToolResult> => {
      try {
        return await work(args, context);
      } catch (problem) {
        const { code, message } = refusalOf(problem);
        return { content: [{ type: 'text', text: `${message} (${code})` }], isError: true };
      }
    };

  if (may('run')) {
    for (const [name, agent] of toolNames(agents())) {
      server.registerTool(
        name,
        {
          title: agent.name,
          description: `Gives a task to the agent ${agent.name}, and waits for its answer.`,
          inputSchema: z.object({ prompt: z.string().describe('The task, with all the agent has to know.'), wait }),
          outputSchema: outcome,
        },
        tried(async ({ prompt, wait: waitS }, context) => {
          const known = context.mcpReq.requestState();
          if (typeof known === 'string') return goneOn(known, context, waitS);
          const { run: started } = await runs.create(caller, { prompt, agent: agent.name });
          return awaited(started, context, waitS);
        }),
      );
    }
    server.registerTool(
      'run_say',
      {
        description: 'Says something to a run: to a run that has ended, it begins a new turn.',
        inputSchema: z.object({ run, text: z.string(), wait }),
        outputSchema: outcome,
      },
      tried(async ({ run: id, text, wait: waitS }, context) => {
        const known = context.mcpReq.requestState();
        if (typeof known === 'string') return goneOn(known, context, waitS);
        return awaited((await runs.say(caller, id, { content: text })).run, context, waitS);
      }),
    );
    server.registerTool(
      'run_stop',
      {
        description: 'Asks a run, and all runs below it, to stop.',
        inputSchema: z.object({ run }),
        outputSchema: outcome,
      },
      tried(async ({ run: id }) => resultOf(await runs.stop(caller, id))),
    );
    server.registerTool(
      'run_answer',
      {
        description: may('approve')
          ? 'Answers what a run waits for. Say allow only where the person you work for has said so.'
          : 'Answers a question of a run, or refuses what it asks leave for.',
        inputSchema: z.object({
          run,
          request: z.string(),
          digest: z.string().describe('As it stands in the request.'),
          of: z.string().optional().describe('The run of the request, where it is one below.'),
          decision: z.enum(may('approve') ? ['allow', 'reject', 'edit', 'reply'] : ['reject', 'reply']),
          arguments: z.record(z.string(), z.unknown()).optional().describe('All new arguments, of an edit.'),
          text: z.string().optional().describe('The words of a reply.'),
          note: z.string().optional().describe('A reason, which the agent reads.'),
          wait,
        }),
        outputSchema: outcome,
      },
      tried(async ({ run: id, of, wait: waitS, ...answer }, context) => {
        const given = answer.arguments as Parameters<Runs['answer']>[2][number]['arguments']; // it came as JSON
        await runs.answer(caller, id, [{ ...answer, arguments: given, run: of }]);
        return awaited(await runs.snapshot(caller, id), context, waitS);
      }),
    );
  }
  if (may('read')) {
    server.registerTool(
      'run_wait',
      {
        description: 'Waits until a run has ended or waits for a person, and says how it stands. With wait 0, at once.',
        inputSchema: z.object({ run, wait }),
        outputSchema: outcome,
        annotations: { readOnlyHint: true },
      },
      tried(async ({ run: id, wait: waitS = WAIT_S }, context) => {
        const { signal } = context.mcpReq;
        const onProgress = progressOf(context);
        return resultOf(await untilRest(id, { runs, clock, caller, signal, waitMs: waitS * 1_000, onProgress }));
      }),
    );
  }
  return server;
}

/** Tells whoever asked for it, in order. One that has gone away is not told. */
function progressOf({ mcpReq }: ServerContext): (message: string) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  if (progressToken === undefined) return () => undefined;
  return (message) => {
    progress++;
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

const LONGEST_NAME = 64;
const OWN_NAMES = ['run_say', 'run_stop', 'run_answer', 'run_wait'];

/** Agents by names that every client takes, no two alike, whatever order they come in. */
function toolNames(agents: readonly HostedAgent[]): ReadonlyMap<string, HostedAgent> {
  const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const counts = new Map(OWN_NAMES.map((name) => [name, 1]));
  for (const { name } of agents) counts.set(plain(name), (counts.get(plain(name)) ?? 0) + 1);
  return new Map(
    agents.map((agent) => {
      const name = plain(agent.name);
      if (counts.get(name) === 1 && name.length <= LONGEST_NAME) return [name, agent];
      const mark = shortDigest(agent.name).slice(0, 8);
      return [`${name.slice(0, LONGEST_NAME - mark.length - 1)}_${mark}`, agent];
    }),
  );
}
