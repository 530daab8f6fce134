import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Client,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../../base/json.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import { askPerson } from '../../kernel/tool.ts';
import { filled, formOf, isSameQuestion, questionOf, type Question } from './elicit.ts';
import { until } from './link.ts';
import { isExtra, runExtra } from './resources.ts';
import { returned } from './result.ts';
import { BROKEN_OFF } from './transport.ts';

interface Running {
  readonly context: ToolContext;
  /** What the server wants to know from the person; set once it asked. */
  asked?: Question;
  /** Ends a call whose server still waits after it was told that nobody answers now. */
  readonly giveUp: AbortController;
}

/** The loop has its own deadline for a tool; this one only ends what nobody waits for. */
const LONGEST_CALL_MS = 24 * 3_600_000;
/** Milliseconds in which a server that was told to wait for the person may end its call in order. */
const WIND_UP_MS = 2_000;

/**
 * The calls of one connection, and the questions that a server asks while they run.
 *
 * A person may take days, and nothing waits in memory that long: the server is told that there is no answer, the turn
 * waits, and the call is made again with the answer at hand.
 */
export class Calls {
  readonly #id: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #running = new Set<Running>();
  /** A server that asks gets one call at a time: its questions do not say which call they are about. */
  #asks = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(id: string, clock: Clock, logger: Logger) {
    this.#id = id;
    this.#clock = clock;
    this.#logger = logger;
  }

  async run(
    client: Client,
    target: Pick<ToolDefinition, 'inputSchema' | 'remote'>,
    args: JsonObject,
    outputSchema: JsonObject | undefined,
    context: ToolContext,
  ): Promise<ToolReturn> {
    const one = (): Promise<ToolReturn> => this.#run(client, target, args, outputSchema, context);
    if (!this.#asks) return one();
    const mine = this.#queue.then(one, one);
    this.#queue = mine.catch(() => undefined);
    return until(mine, context.signal);
  }

  async #run(
    client: Client,
    target: Pick<ToolDefinition, 'inputSchema' | 'remote'>,
    args: JsonObject,
    outputSchema: JsonObject | undefined,
    context: ToolContext,
  ): Promise<ToolReturn> {
    context.signal.throwIfAborted();
    const running: Running = { context, giveUp: new AbortController() };
    this.#running.add(running);
    const signal = AbortSignal.any([context.signal, running.giveUp.signal]);
    const options = { signal, timeout: LONGEST_CALL_MS };
    try {
      const name = target.remote?.name ?? '';
      if (isExtra(name)) return await until(runExtra(client, name, args, options), signal);
      const call = client.callTool(
        { name, arguments: { ...args } },
        {
          ...options,
          toolDefinition: { name, inputSchema: { ...target.inputSchema, type: 'object' } },
          onprogress: ({ progress, total, message }) => {
            const fraction = total !== undefined && total > 0 ? Math.min(1, Math.max(0, progress / total)) : undefined;
            context.progress({
              ...(message === undefined ? {} : { text: message.slice(0, 500) }),
              ...(fraction === undefined ? {} : { fraction }),
            });
          },
        },
      );
      const result = returned(await until(call, signal), outputSchema);
      // Whatever it made of having no answer, it wanted one.
      return running.asked === undefined ? result : ask(running.asked);
    } catch (error) {
      if (running.asked !== undefined && !context.signal.aborted) return ask(running.asked);
      throw error;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Answers a server's question with what a person said before, or says that nobody answers now and remembers it. */
  elicit(params: unknown): ElicitResult {
    const form = formOf(params);
    if (form === undefined) {
      this.#logger.warn('an MCP server asked for something that cannot be asked of a person here', {
        server: this.#id,
      });
      return { action: 'decline' };
    }
    this.#asks = true;
    const [running, other] = this.#running;
    if (running === undefined || other !== undefined) {
      this.#logger.warn('an MCP server asked while no or several calls ran, so nobody knows about which', {
        server: this.#id,
      });
      return { action: 'cancel' };
    }
    const { context } = running;
    const replies = repliesOf(context).filter(({ question }) => isSameQuestion(question, this.#id, form));
    const last = replies.at(-1);
    let problem: string | undefined;
    if (last !== undefined) {
      const answer = filled(form, last.reply);
      if (answer.action !== 'wrong') return answer;
      problem = answer.problem;
    }
    running.asked = questionOf(this.#id, form, problem);
    this.#clock.after(WIND_UP_MS, () => running.giveUp.abort(new Error('the server waits for an answer of a person')));
    return { action: 'cancel' };
  }

  /** True when the server itself said no, so that nothing is uncertain. */
  wasAnswered(error: unknown): boolean {
    if (error instanceof ProtocolError) return error.code !== BROKEN_OFF;
    if (error instanceof SdkHttpError) return true;
    return error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;
  }
}

function ask({ question, choices }: Question): ToolReturn {
  return askPerson(question, choices);
}

/** What the person has answered for this action, oldest first. */
function repliesOf({
  conversation,
  actionId,
  reply,
}: ToolContext): readonly { readonly question: string; readonly reply: string }[] {
  const requests =
    conversation.turn?.requests.filter(({ action, kind }) => action === actionId && kind === 'input') ?? [];
  return requests.flatMap(({ question, answer }, index) => {
    const said = answer?.text ?? (index === requests.length - 1 ? reply : undefined);
    return said === undefined ? [] : [{ question, reply: said }];
  });
}
