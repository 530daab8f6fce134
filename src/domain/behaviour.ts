import { z } from 'zod';
import { defaultLimits, defaultSubagents } from './limits.ts';
import { key, later, refuse, requiredKey } from './bundle-key.ts';
import { roles, supportedModel } from './declared-model.ts';
import { cachePolicy } from './selection.ts';

const HOUR_MS = 3_600_000;

const mode = z.enum(['auto', 'required', 'any', 'none']);

const choice = z
  .strictObject({
    mode: requiredKey(
      z.enum([...mode.options, 'tool']),
      '`tool` asks for the one that `name` names; `any` is `required`.',
    ),
    name: key(z.string().min(1), 'The tool, exactly when `mode` is `tool`.'),
  })
  .superRefine(({ mode: given, name }, context) => {
    if (given === 'tool' && name === undefined)
      refuse(context, { found: 'no name', wanted: 'the name of a tool' }, ['name']);
    if (given !== 'tool' && name !== undefined) {
      refuse(context, { code: 'bundle_conflict', found: `mode ${given} with a name`, wanted: 'mode tool' }, ['name']);
    }
  });

const step = z.union([mode, choice]);
export type DeclaredChoice = z.infer<typeof step>;

const declaredToolChoice = z.union([
  mode,
  choice,
  z.strictObject({
    sequence: requiredKey(z.array(step).min(1).max(100), 'One choice for each model call of a turn; the last repeats.'),
  }),
]);

const planning = z.union([
  z.boolean(),
  z.strictObject({
    enabled: key(z.boolean(), 'Whether a plan is made before the first model call.', { default: true }),
    placement: key(z.enum(['announce', 'system']), 'Where the plan stands in the prompt. `system` costs the cache.', {
      default: 'announce',
    }),
    approval: key(
      z.enum(['never', 'auto', 'always']),
      'Whether a person has to agree to the plan, and to what the model would make of it. `auto`: where the planner says so, or does not say.',
      {
        default: 'never',
      },
    ),
  }),
]);

const cache = z
  .strictObject({
    selection_change_policy: key(
      z
        .strictObject({
          default: key(cachePolicy, 'What happens where the user has set nothing else.', { default: 'confirm' }),
          allowed: key(z.array(cachePolicy).min(1), 'What users may set, and choose for one change.', {
            otherwise: 'all of them',
          }),
        })
        .meta({ id: 'selection_change_policy' }),
      'What happens when a user changes something that would make a warm prompt cold: `accept` does it, `confirm` asks with its price, `defer_cold` waits until it is free, `defer_conversation` leaves it to the next conversation.',
    ),
    cold_turns_per_hour: key(z.int().min(0).max(1_000), 'How often in an hour a user may make a warm prompt cold.', {
      otherwise: 'as often as they like',
    }),
    ttl: key(
      z.enum(['short', 'long']),
      'How long the provider is asked to keep prompts: its usual time, or the longer one that it offers, whose writing costs more.',
      { default: 'short' },
    ),
    defer_over: key(
      z.int().min(0).max(10_000),
      'With more tools than so many, those whose entry does not say `defer` are kept out of the prompt and found by a search.',
      { otherwise: 'none is, but where `defer` says so' },
    ),
    denied: key(
      z.enum(['remove', 'keep_listed']),
      'What becomes of a tool that a user switches off: `remove` takes it out of the prompt, which makes it cold; `keep_listed` leaves it there and refuses calls, which is free.',
      { default: 'remove' },
    ),
  })
  .superRefine(({ selection_change_policy: policy }, context) => {
    const { default: usual = 'confirm', allowed } = policy ?? {};
    if (allowed === undefined || allowed.includes(usual)) return;
    const path = ['selection_change_policy', 'default'];
    refuse(
      context,
      { code: 'bundle_conflict', found: usual, wanted: `one of the allowed: ${allowed.join(', ')}` },
      path,
    );
  })
  .meta({ id: 'cache' });
export type DeclaredCache = z.infer<typeof cache>;
const subagents = z.union([
  z.boolean(),
  z.strictObject({
    enabled: key(z.boolean(), 'Grants the tool `delegate` of `builtin/agent`, where no entry of `tools` does.', {
      default: true,
    }),
    max: key(z.int().min(1).max(64), 'Tasks that are worked on at the same time; one more is refused.', {
      default: defaultSubagents,
    }),
  }),
]);

const cap = (least: number, most: number) => z.int().min(least).max(most);

/** How one agent behaves and what it is taught: `config.react.<agent>`. Every key may be left to a more general level. */
export const behaviour = z
  .strictObject({
    system_prompt: key(z.string(), 'What the agent is told it is.', { otherwise: 'nothing' }),
    system_prompt_file: key(z.string().min(1), 'A file that holds the system prompt, in the folder of the bundle.'),
    instructions: key(z.string(), 'Another word for `system_prompt`.'),
    additional_instructions: key(z.string(), 'Lasting teaching that follows the system prompt.', {
      otherwise: 'nothing',
    }),
    about: key(z.string().min(1).max(500), 'What the agent is for, in a sentence for people who choose one.'),
    starters: key(
      z.array(z.string().min(1).max(200)).max(6),
      'First messages that people are offered. The model is not told.',
      { otherwise: 'none' },
    ),
    planning: key(planning, 'Whether a plan is made before the first model call. Needs a planner plugin.', {
      default: false,
    }),
    model_role: key(z.string().min(1), 'The role whose model decides.', {
      otherwise: '`models.default`, else `balanced`',
    }),
    parallel_tools: key(z.boolean(), 'Whether actions of one decision run at the same time.', { default: false }),
    max_concurrent: key(cap(1, 64), 'How many of them, when `parallel_tools` is on.', {
      default: defaultLimits.maxConcurrent,
    }),
    tool_choice: key(
      declaredToolChoice,
      'Whether a model call has to use a tool: `auto`, `required`, `none`, `{mode: tool, name}`, or a `sequence` of these.',
      { default: 'auto' },
    ),
    decision: key(
      z.enum(['native', 'json']),
      "How the model tells its decision: by the provider's tool calls, or as one JSON object for models without them.",
      { default: 'native' },
    ),
    max_iterations: key(cap(1, 1_000), 'Model calls a turn; the one that would pass it is not made.', {
      default: defaultLimits.maxIterations,
    }),
    max_actions: key(cap(1, 100), 'Actions of one decision that are carried out; the rest are told so.', {
      default: defaultLimits.maxActions,
    }),
    max_faults: key(
      cap(0, 100),
      'Bad decisions, bad arguments and failed tools in a row that are told to the model before the turn ends.',
      { default: defaultLimits.maxFaults },
    ),
    max_repeats: key(
      cap(0, 100),
      'The same tool, arguments and result, so often in a row, is a loop. 0: no such guard.',
      {
        default: defaultLimits.maxRepeats,
      },
    ),
    max_attempts: key(cap(1, 20), 'Attempts at one model call, over all models of the chain.', {
      default: defaultLimits.maxAttempts,
    }),
    max_pauses: key(cap(0, 100), 'Times in a row that a provider may ask to be called again.', {
      default: defaultLimits.maxPauses,
    }),
    on_limit: key(
      z.enum(['end', 'error', 'wrap_up']),
      'At a limit: end the turn, end it as an error, or make one last call without tools.',
      { default: 'end' },
    ),
    tool_timeout_ms: key(cap(1, 24 * HOUR_MS), 'Milliseconds that a tool may take.', {
      default: defaultLimits.toolTimeoutMs,
    }),
    model_idle_ms: key(cap(1, HOUR_MS), 'Milliseconds without a word from the model before the call is given up.', {
      default: defaultLimits.modelIdleMs,
    }),
    max_result_bytes: key(
      cap(256, 16_777_216),
      'Bytes of one result that the model is shown; the rest stays readable.',
      {
        default: defaultLimits.maxResultBytes,
      },
    ),
    context_max_tokens: key(cap(1_000, 100_000_000), 'Input tokens at which older turns are compacted.', {
      otherwise: 'when the provider says that it is too much',
    }),
    context_cold_tokens: key(
      cap(1_000, 100_000_000),
      'Input tokens from which older turns are compacted when a turn begins and no cache holds the prompt any more.',
      { otherwise: 'never' },
    ),
    supported_models: key(z.array(supportedModel).max(100), 'Models that users may pick.', { otherwise: 'none' }),
    role_models: key(roles, "This agent's models for roles, over `config.role_models` and `models`."),
    render_thinking: key(z.boolean(), 'Whether people are shown what the model thought.', { default: true }),
    cache: key(cache, 'What is asked of the prompt cache, and of users who would make it cold.'),
    claim_policy: key(
      z.enum(['drop', 'ask']),
      'What becomes of a tool whose rights in a connected account are unmet. `drop`: it is inactive for the turn. `ask`: it can be called, and then the user is asked to connect the account.',
      { default: 'drop' },
    ),
    subagents: key(subagents, 'Whether the agent may hand tasks to agents of its bundle, each in a run of its own.', {
      otherwise: '`true` for an agent that is granted `builtin/agent`, else `false`',
    }),
    debug_timeline: later('Extra output for debugging.', 'remove it'),
  })
  .meta({ id: 'behaviour' });
export type Behaviour = z.infer<typeof behaviour>;
export type BehaviourKey = keyof Behaviour;
