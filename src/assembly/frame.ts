import type { EffectiveAgent, Limits, ToolChoice } from '../domain/agent.ts';
import { defaultLimits, defaultSubagents } from '../domain/limits.ts';
import type { Behaviour, BehaviourKey, DeclaredChoice } from '../domain/behaviour.ts';
import type { Bundle } from '../domain/bundle.ts';
import { behaviourLevels, inventoryLevels, resolve } from './resolve.ts';

/** How an agent behaves, whoever uses it: everything of the effective agent that neither a selection nor an account changes. */
export type Frame = Pick<
  EffectiveAgent,
  'id' | 'grammar' | 'aside' | 'toolChoice' | 'limits' | 'onLimit' | 'planning' | 'renderThinking' | 'cacheTtl'
> & {
  readonly systemPrompt: string;
  readonly additional: string;
  /** Characters that the list of skills may have. */
  readonly skillsRoom?: number | undefined;
  /** Tools that a user switched off stay in the prompt. */
  readonly keepListed?: true | undefined;
  /** A tool with unmet claims can be called, and asks for them then. */
  readonly asksForClaims?: true | undefined;
};

export interface FrameOptions {
  /** The text of the system prompt, read from its file where it has one. */
  readonly systemPrompt: string;
  /** The gate's cap, which holds where no level says `max_iterations`. */
  readonly gateIterations?: number | undefined;
  /** Whether anybody would answer a request for a plan. */
  readonly hasPlanner: boolean;
  /** Who is asked for asides, where that is not who decides. */
  readonly aside?: EffectiveAgent['aside'];
  /** What memory plugins make the loop watch, where the agent says nothing else. */
  readonly memory?: Partial<Limits> | undefined;
  /** Whether anybody would answer a request to make a prompt shorter. */
  readonly canCompact?: boolean | undefined;
  /** Whether it is granted the tool that delegates. */
  readonly delegates?: boolean | undefined;
}

/** The behaviour of one agent from the levels of its bundle, each key from the nearest level that sets it. Pure. */
export function frameOf(bundle: Bundle, agent: string, options: FrameOptions): Frame {
  const levels = behaviourLevels(bundle, agent);
  const value = <K extends BehaviourKey>(key: K): NonNullable<Behaviour[K]> | undefined => resolve(levels, key)?.value;
  const toolChoice = choiceOf(value('tool_choice'));
  const cache = value('cache') ?? {};
  const planning = options.hasPlanner ? planningOf(value('planning')) : undefined;
  return {
    id: agent,
    grammar: value('decision') ?? 'native',
    limits: limitsOf(value, options),
    onLimit: value('on_limit') ?? 'end',
    renderThinking: value('render_thinking') ?? true,
    systemPrompt: options.systemPrompt,
    additional: value('additional_instructions') ?? '',
    skillsRoom: resolve(inventoryLevels(bundle, agent), 'skills')?.value.gallery_chars,
    ...(cache.ttl === 'long' ? { cacheTtl: 'long' as const } : {}),
    ...(cache.denied === 'keep_listed' ? { keepListed: true as const } : {}),
    ...(options.aside === undefined ? {} : { aside: options.aside }),
    ...(value('claim_policy') === 'ask' ? { asksForClaims: true as const } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(planning === undefined ? {} : { planning }),
  };
}

function limitsOf(
  value: <K extends BehaviourKey>(key: K) => NonNullable<Behaviour[K]> | undefined,
  { gateIterations, delegates = false, memory = {}, canCompact = true }: FrameOptions,
): Limits {
  const maxSubagents = delegates ? subagentsOf(value('subagents') ?? true) : undefined;
  const contextMaxTokens = value('context_max_tokens') ?? memory.contextMaxTokens;
  const contextColdTokens = value('context_cold_tokens');
  return {
    maxIterations: value('max_iterations') ?? gateIterations ?? defaultLimits.maxIterations,
    maxActions: value('max_actions') ?? defaultLimits.maxActions,
    maxConcurrent: value('parallel_tools') === true ? (value('max_concurrent') ?? defaultLimits.maxConcurrent) : 1,
    maxFaults: value('max_faults') ?? defaultLimits.maxFaults,
    maxAttempts: value('max_attempts') ?? defaultLimits.maxAttempts,
    maxPauses: value('max_pauses') ?? defaultLimits.maxPauses,
    maxRepeats: value('max_repeats') ?? defaultLimits.maxRepeats,
    toolTimeoutMs: value('tool_timeout_ms') ?? defaultLimits.toolTimeoutMs,
    modelIdleMs: value('model_idle_ms') ?? defaultLimits.modelIdleMs,
    maxResultBytes: value('max_result_bytes') ?? defaultLimits.maxResultBytes,
    ...memory,
    ...(contextMaxTokens === undefined ? {} : { contextMaxTokens }),
    ...(contextMaxTokens === undefined || canCompact ? {} : { contextEnds: true as const }),
    ...(contextColdTokens === undefined ? {} : { contextColdTokens }),
    ...(maxSubagents === undefined ? {} : { maxSubagents }),
  };
}

/** How many child runs may be at work at the same time; undefined when none may. */
export function subagentsOf(declared: Behaviour['subagents']): number | undefined {
  if (declared === undefined || declared === false) return undefined;
  if (declared === true) return defaultSubagents;
  return declared.enabled === false ? undefined : (declared.max ?? defaultSubagents);
}

function choiceOf(declared: Behaviour['tool_choice']): Frame['toolChoice'] {
  if (declared === undefined) return undefined;
  if (typeof declared === 'object' && 'sequence' in declared) return declared.sequence.map(oneChoice);
  return oneChoice(declared);
}

function oneChoice(declared: DeclaredChoice): ToolChoice {
  const { mode, name } = typeof declared === 'string' ? { mode: declared, name: undefined } : declared;
  if (mode === 'any') return { mode: 'required' };
  return name === undefined ? { mode } : { mode, name };
}

function planningOf(declared: Behaviour['planning']): Frame['planning'] {
  if (declared === undefined || declared === false) return undefined;
  if (declared === true) return { approval: 'never', placement: 'announce' };
  if (declared.enabled === false) return undefined;
  return { approval: declared.approval ?? 'never', placement: declared.placement ?? 'announce' };
}

/** True when this key asks for a plan. */
export function asksForPlan(declared: Behaviour['planning']): boolean {
  return planningOf(declared) !== undefined;
}
