import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { missing, type HeldClaims } from '../../assembly/claims.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import { iterationsOf, requestFor, type Conversation } from '../../domain/conversation.ts';
import type { Claim } from '../../domain/grant.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { AccountStore } from '../../kernel/choices.ts';
import type { AgentSource } from '../../kernel/agent-source.ts';
import type { ConnectedAccount, Tool, ToolContext, ToolReturn, Toolset } from '../../kernel/running-tool.ts';
import { handed } from '../../kernel/handed.ts';
import { ACCOUNT_NEEDED, accountNeeded, askConsent, isToolReturn } from '../../kernel/tool.ts';
import { readClaims } from '../grant/agent-source.ts';
import { askStore, STORE_TIMEOUT_MS } from './ask-store.ts';

export interface WithAccountsOptions {
  /** What a tool of an agent needs; undefined for one that needs no account. */
  readonly needs: (agent: string, definition: ToolDefinition) => Claim | undefined;
  /** The user of an agent is asked at the attempt. */
  readonly asks: (agent: string) => boolean;
  readonly accounts: AccountStore | undefined;
  readonly clock: Clock;
}

/** The same agents, whose tools with claims are handed the user's account, and are asked about at the attempt. */
export function withAccounts(
  source: AgentSource,
  { needs: needsOf, asks, accounts, clock }: WithAccountsOptions,
): AgentSource {
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();
  return {
    assemble: (meta, conversation) => source.assemble(meta, conversation),
    tools(effective) {
      let tools = toolsets.get(effective);
      if (tools === undefined) toolsets.set(effective, (tools = wrapped(source.tools(effective), effective.id)));
      return tools;
    },
  };

  function wrapped(tools: Toolset, agent: string): Toolset {
    const needy = [...tools].flatMap(([name, tool]): [string, Tool][] => {
      const needs = needsOf(agent, tool.definition);
      return needs === undefined ? [] : [[name, needing(tool, needs, { accounts, clock, asks: asks(agent) })]];
    });
    return needy.length === 0 ? tools : new Map([...tools, ...needy]);
  }
}

interface Ports extends Pick<WithAccountsOptions, 'accounts' | 'clock'> {
  /** The user is asked at the attempt. */
  readonly asks: boolean;
}

/** A tool that runs only while the user's account gives what it needs, whatever was true when the turn began. */
function needing(tool: Tool, needs: Claim, ports: Ports): Tool {
  const { definition } = tool;
  /** What it ran into may be that more is needed than anybody knew. */
  const found = (given: unknown, context: ToolContext): unknown => {
    const more = neededBy(given);
    if (more === undefined) return given;
    const why =
      more.claims.length === 0
        ? `needs a connected ${more.provider} account`
        : `needs ${more.claims.join(', ')} in the connected ${more.provider} account`;
    return unmet(definition.name, more, why, context, ports.asks);
  };
  const unlessUnmet = (context: ToolContext, run: (context: ToolContext) => unknown): unknown => {
    const held = heldBy(context, ports);
    const go = (claims: HeldClaims): unknown => {
      const why = missing(needs, claims);
      if (why !== undefined) return unmet(definition.name, needs, why, context, ports.asks);
      const ran = run(opened(context, needs, ports));
      return isPromise(ran) ? ran.then((given) => found(given, context)) : found(ran, context);
    };
    return isPromise(held) ? held.then(go) : go(held);
  };
  return {
    ...tool,
    run: (args, context) => unlessUnmet(context, (given) => tool.run(args, given)),
    ...(tool.probe !== undefined && {
      probe: (key: string, context: ToolContext) => tool.probe?.(key, opened(context, needs, ports)),
    }),
  };
}

/** Rights that cannot be read are no rights. */
function heldBy({ userId, tenant }: ToolContext, { accounts, clock }: Ports): MaybePromise<HeldClaims> {
  if (accounts === undefined) return {};
  const asked = askStore(() => accounts.claims({ userId, tenant }), clock, STORE_TIMEOUT_MS);
  const use = (answer: Awaited<typeof asked>): HeldClaims => (answer.ok ? readClaims(answer.value) : {});
  return isPromise(asked) ? asked.then(use) : use(asked);
}

function opened(context: ToolContext, { provider }: Claim, { accounts }: Ports): ToolContext {
  const { userId, tenant } = context;
  const account = async (): Promise<ConnectedAccount> => {
    if (accounts?.open === undefined) throw new Error(`no ${provider} account can be used here`);
    return accounts.open({ userId, tenant, provider });
  };
  // The answer was to our question, not to the tool's.
  return handed(context, isAnswer(context) ? { account, reply: undefined } : { account });
}

/** Whether what the person answered was asked by us. */
function isAnswer({ reply, conversation: { turn }, actionId }: ToolContext): boolean {
  return reply !== undefined && turn !== undefined && requestFor(turn, actionId)?.consent !== undefined;
}

/** The account that a tool asks for by what it gives back. */
function neededBy(given: unknown): Claim | undefined {
  if (!isToolReturn(given) || given.kind !== 'failure' || given.code !== ACCOUNT_NEEDED) return undefined;
  const consent = isObject(given.value) ? given.value['consent'] : undefined;
  if (!isObject(consent)) return undefined;
  const { account, claims } = consent;
  if (typeof account !== 'string' || !Array.isArray(claims)) return undefined;
  return { provider: account, claims: claims.filter((one): one is string => typeof one === 'string') };
}

const CHOICES = ['connected', 'go on without it'] as const;

/**
 * The first attempt in a conversation asks the user, and the turn waits. Once they have said no, the model is told so
 * at once, until something else is missing.
 */
function unmet(
  name: string,
  { provider, claims }: Claim,
  why: string,
  context: ToolContext,
  asks: boolean,
): ToolReturn {
  const message = `${name} ${why}, and the user has not connected it. Go on without it, or say what is missing.`;
  if (!asks || isAnswer(context) || wasTold(context.conversation, name, message)) {
    return accountNeeded(message, { account: provider, claims });
  }
  const question = `${name} ${why}. Connect the account, then say so; or let the agent go on without it.`;
  return askConsent(question, CHOICES, { account: provider, claims });
}

function wasTold({ turns, turn }: Conversation, name: string, message: string): boolean {
  for (const one of [...(turn === undefined ? [] : [turn]), ...turns]) {
    for (const { actions } of iterationsOf(one)) {
      const told = actions.some(({ action, observation }) => {
        const error = action.name === name ? observation?.error : undefined;
        return error?.code === ACCOUNT_NEEDED && error.message === message;
      });
      if (told) return true;
    }
  }
  return false;
}
