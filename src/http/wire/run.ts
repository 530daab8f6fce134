import { z } from 'zod';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import { part } from '../../domain/content.ts';
import { RUN_STATUSES, STOP_KINDS } from '../../domain/status.ts';
import { usage } from '../../domain/usage.ts';
import { json, time, type Wire } from './shape.ts';

export { part, RUN_STATUSES, STOP_KINDS };

export const STATUS_KINDS = ['working', 'waiting_for_person', 'waiting_for_work', 'ended'] as const;
export const DECISIONS = ['allow', 'reject', 'edit', 'reply'] as const;

export const runStatus = z.enum(RUN_STATUSES).meta({ id: 'RunStatus' });
export const statusKind = z.enum(STATUS_KINDS);
export const decision = z.enum(DECISIONS);
export const pendingApproval = z.object({ kind: z.enum(['plan', 'action']) });
export const tokens = z.object(usage.shape).meta({
  id: 'Usage',
  description: 'Tokens in parts that never overlap. A part that no provider reported is absent, which is not zero.',
});
export const cost = z
  .object({ amount: z.string().meta({ description: 'Decimal text.' }), currency: z.literal('USD') })
  .meta({ id: 'Cost' });

/** Free labels of whoever began the run. */
export const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((labels) => Object.keys(labels).length <= 16, 'more than 16 labels')
  .meta({ description: 'At most 16 labels, names of up to 64 and values of up to 512 characters.' });

export const runLimits = z
  .strictObject({
    maxIterations: z.int().min(1).max(1_000_000).optional(),
    maxActions: z.int().min(0).max(1_000_000).optional(),
    maxTokens: z.int().min(1).max(1_000_000_000_000).optional(),
    maxMoney: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,9})?$/)
      .optional()
      .meta({ description: 'US dollars, as decimal text.' }),
    wallMs: z
      .int()
      .min(1)
      .max(31_536_000_000)
      .optional()
      .meta({ description: 'Of work on one turn; waiting does not count.' }),
  })
  .meta({ id: 'RunLimits', description: 'Each narrows what the agent declares and never widens it.' });

const planStep = z.object({
  title: z.string(),
  detail: z.string().optional(),
  status: z.enum(['doing', 'done', 'failed', 'skipped']).optional(),
  note: z.string().optional(),
});

/** A decision that a person owes. An answer repeats `id` and `digest`. */
export const openRequest = z
  .object({
    id: z.string(),
    kind: z.enum(['action', 'plan', 'input']),
    question: z.string(),
    run: z.string().meta({ description: 'The run it belongs to: this one, or one below it.' }),
    agentPath: z.string(),
    digest: z.string().meta({ description: 'SHA-256 of what the answer is about.' }),
    askedAt: time,
    action: z.string().optional(),
    parent: z.string().optional().meta({ description: 'The action whose program asks for this one.' }),
    name: z.string().optional(),
    arguments: json.optional().meta({ description: 'Exactly what would run.' }),
    inputSchema: json.optional().meta({ description: 'JSON Schema of the arguments, which an `edit` has to fit.' }),
    preview: z
      .array(part)
      .optional()
      .meta({ description: 'What the tool shows of what would happen, such as a diff.' }),
    plan: z.array(planStep).optional().meta({
      description: 'The steps of a plan; of an action that keeps one, the steps as they would be.',
    }),
    planBefore: z.array(planStep).optional().meta({ description: 'Of such an action: the steps as they stand.' }),
    summary: z.string().optional().meta({ description: 'What a plan is for, in the words of its planner.' }),
    choices: z.array(z.string()).optional(),
    consent: z
      .object({ account: z.string(), claims: z.array(z.string()) })
      .optional()
      .meta({ description: 'A connected account is asked for: connect it, and the run goes on by itself.' }),
    expiresAt: time.optional(),
    gate: z.string().optional(),
    allowance: z
      .object({ scopes: z.array(z.enum(STANDING_SCOPES)), about: z.string() })
      .optional()
      .meta({ description: 'How far an `allow` may reach, and what it is then a yes to. Absent: to this one action.' }),
    decisions: z.array(decision),
  })
  .meta({ id: 'OpenRequest' });
export type WireRequest = Wire<typeof openRequest>;

export const waitingOn = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.enum(['action', 'plan', 'input']), request: z.string(), run: z.string() }),
    z.object({ kind: z.literal('gate'), gate: z.string(), until: time }),
    z.object({ kind: z.literal('computation'), ticket: z.string(), action: z.string(), until: time.optional() }),
    z.object({ kind: z.literal('subagent'), run: z.string(), action: z.string().optional() }),
  ])
  .meta({ id: 'WaitingOn' });

const parent = z.object({ id: z.string(), action: z.string() });

/** A run at one moment. */
export const snapshot = z
  .object({
    id: z.string(),
    agent: z.string(),
    bundle: z.string(),
    status: runStatus,
    statusKind,
    terminal: z.boolean().meta({ description: 'Ended. Not the same as success: only `completed` is.' }),
    waitingOn: z.array(waitingOn),
    stopReason: z.enum(STOP_KINDS).optional(),
    prompt: z.string().meta({ description: 'The first thing said.' }),
    title: z.string(),
    turns: z.int(),
    createdAt: time,
    updatedAt: time,
    lastProgressAt: time.meta({ description: 'When the run, or one below it that it waits for, last got on.' }),
    version: z.int().meta({ description: 'Grows with every change: orders two reads.' }),
    usage: tokens,
    cost: cost.optional().meta({ description: 'Absent means unknown, not free.' }),
    limits: runLimits,
    metadata: z.record(z.string(), z.string()),
    parent: parent.optional(),
    children: z.array(
      z.object({ id: z.string(), agent: z.string(), action: z.string().optional(), status: runStatus }),
    ),
    requests: z.array(openRequest),
    archivedAt: time.optional(),
    answer: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'Run' });
export type WireRun = Wire<typeof snapshot>;

export const runSummary = z
  .object({
    id: z.string(),
    agent: z.string(),
    bundle: z.string(),
    userId: z.string(),
    status: runStatus,
    statusKind,
    terminal: z.boolean(),
    title: z.string(),
    createdAt: time,
    updatedAt: time,
    metadata: z.record(z.string(), z.string()),
    parent: parent.optional(),
    archivedAt: time.optional(),
  })
  .meta({ id: 'RunSummary' });

export const runList = z
  .object({ runs: z.array(runSummary), hasMore: z.boolean(), nextCursor: z.string().optional() })
  .meta({ id: 'RunList' });
export type WireRunList = Wire<typeof runList>;
