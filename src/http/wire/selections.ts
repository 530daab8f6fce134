import { z } from 'zod';
import { CACHE_POLICIES, CHANGE_CLASSES, GROUP_KINDS } from '../../domain/selection.ts';
import { mergeSelection, selectionPatch } from '../../domain/selection-patch.ts';
import type { RouteTable } from './route.ts';
import { time } from './shape.ts';

/** What the server does to a record: a page that does the same shows what a save would come to. */
export { mergeSelection };

const DECISIONS = ['accept', 'defer_cold', 'defer_conversation'] as const;

const agentName = z.strictObject({ agent: z.string().meta({ description: 'The agent’s name.' }) });
const conversation = z.string().max(200).meta({ description: 'A run of yours with this agent.' });

const money = z.string().meta({ description: 'US dollars, decimal.' });

export const consequence = z
  .object({
    kind: z.enum(['free', 'from', 'all']).meta({ description: 'How much of the prompt is not read from the cache.' }),
    section: z.enum(['model', 'tools', 'instructions', 'gallery']).optional(),
    realisation: z.enum(['mask', 'announce', 'defer', 'remove']).optional(),
    tokens: z.int().meta({ description: 'Cached tokens that have to be written anew.' }),
    money: z
      .object({ rebuild: money.optional(), instead: money.optional() })
      .optional()
      .meta({ description: 'What writing them costs, and what reading them would. Absent is unknown, never free.' }),
    assumes: z.object({
      warmUntil: time.optional().meta({ description: 'After that it is free, if nobody uses the cache before.' }),
      prices: z.enum(['list', 'configured', 'unknown']),
    }),
  })
  .meta({ id: 'Consequence' });

const policy = z.enum(CACHE_POLICIES);
const groups = z.record(z.string(), z.union([z.literal(true), z.array(z.string())]));

const selection = z
  .object({
    schema_version: z.literal(1),
    disabled: z.object({ tools: groups, mcp: groups, named_services: groups, skills: z.array(z.string()) }),
    model: z.object({ provider: z.string(), model: z.string() }).optional(),
    cache_policy: z.object({ model_switch: policy.optional(), capability_toggle: policy.optional() }).optional(),
  })
  .meta({ id: 'Selection', description: 'What a user switched off, and one pick. It can only take away.' });

const pending = z
  .object({ id: z.string(), apply: z.enum(['when_cold', 'next_conversation']), patch: selectionPatch, at: time })
  .meta({ id: 'PendingChange' });

const scope = z.object({
  kind: z.enum(['user', 'conversation']),
  conversation: z.string().optional(),
  revision: z.int().meta({ description: 'Counts the writes; 0 while nothing is stored.' }),
});

const part = z
  .object({
    class: z.enum(CHANGE_CLASSES),
    policy,
    consequence,
    done: z.enum(['applied', 'when_cold', 'next_conversation']),
  })
  .meta({ id: 'ChangePart', description: 'One kind of change: what its policy is, what it costs, what became of it.' });

const dropped = z.array(z.object({ path: z.string(), why: z.string() }));

export const selectionReply = z
  .object({
    agent: z.string(),
    scope,
    selection,
    pending: z.array(pending),
    dropped: dropped.meta({ description: 'What the agent does not have, or nobody may switch off.' }),
    parts: z.array(part),
  })
  .meta({ id: 'SelectionReply' });

export const consequenceReply = selectionReply
  .omit({ scope: true })
  .extend({ choices: z.array(z.enum(DECISIONS)) })
  .meta({ id: 'ConsequenceReply' });

const model = z.object({ provider: z.string(), model: z.string(), label: z.string() });

export const capabilities = z
  .object({
    agent: z.string(),
    bundle: z.string(),
    scope,
    groups: z.array(
      z.object({
        kind: z.enum(GROUP_KINDS),
        group: z.string(),
        server: z.string().optional(),
        locked: z.boolean(),
        open: z.boolean().meta({ description: 'It has entries that are not known at the moment.' }),
        entries: z.array(
          z.object({
            own: z.string().meta({ description: 'What selections call it.' }),
            name: z.string().optional().meta({ description: 'What the model calls it.' }),
            description: z.string().optional(),
            needs: z.object({ provider: z.string(), claims: z.array(z.string()) }).optional(),
            unavailable: z.string().optional(),
          }),
        ),
      }),
    ),
    skills: z.array(
      z.object({ id: z.string(), name: z.string(), description: z.string(), requires: z.array(z.string()) }),
    ),
    supported_models: z.array(model),
    default_model: model.omit({ label: true }).optional(),
    selection,
    pending: z.array(pending),
    policy: z.object({
      default: policy,
      allowed: z.array(policy),
      coldTurnsPerHour: z.int().optional(),
      inForce: z.object({ model_switch: policy, capability_toggle: policy }),
    }),
    ignored: z.array(z.string()).meta({ description: 'What of the stored record could not be read.' }),
    consequences: z
      .array(z.object({ patch: selectionPatch, consequence }))
      .optional()
      .meta({ description: 'Of each toggle, where a conversation is named.' }),
  })
  .meta({ id: 'Capabilities', description: 'What users of this agent can switch off and pick, and what they have.' });

export const changeSelection = selectionPatch
  .extend({
    conversation: conversation
      .optional()
      .meta({ description: 'Only there. Absent: wherever a conversation has no copy of its own.' }),
    decision: z
      .enum(DECISIONS)
      .optional()
      .meta({ description: 'What to do where it costs. Absent: as the policy says.' }),
    replace: z.boolean().optional().meta({ description: 'What is not named is switched on again.' }),
    drop_pending: z.boolean().optional().meta({ description: 'What waits is forgotten.' }),
  })
  .meta({ id: 'ChangeSelection' });

/** What users of an agent may choose, what they chose, and what a change costs before it is made. */
export const selectionRoutes = {
  readCapabilities: {
    method: 'GET',
    path: '/agents/{agent}/capabilities',
    about:
      'What can be switched off and picked, and your choices. With a conversation, what each toggle would cost there.',
    scope: 'read',
    params: agentName,
    query: z.strictObject({ conversation: conversation.optional() }),
    status: 200,
    reply: capabilities,
    refuses: ['agent_unknown', 'not_found', 'selection_unavailable'],
  },
  changeSelection: {
    method: 'PATCH',
    path: '/agents/{agent}/selection',
    about: 'Change your choices: what is named and nothing else. What costs needs a decision, or a policy that is one.',
    scope: 'run',
    params: agentName,
    body: changeSelection,
    status: 200,
    reply: selectionReply,
    refuses: [
      'agent_unknown',
      'not_found',
      'confirmation_required',
      'cold_turns_exhausted',
      'selection_conflict',
      'selection_unavailable',
    ],
  },
  readConsequence: {
    method: 'POST',
    path: '/agents/{agent}/consequence',
    about: 'What such a change would come to. Nothing is changed.',
    scope: 'read',
    params: agentName,
    body: changeSelection,
    status: 200,
    reply: consequenceReply,
    refuses: ['agent_unknown', 'not_found', 'selection_unavailable'],
  },
} as const satisfies RouteTable;
