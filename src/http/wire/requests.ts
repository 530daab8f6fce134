import { z } from 'zod';
import { ALLOW_SCOPES } from '../../domain/allowance.ts';
import { cost, decision, metadata, openRequest, part, RUN_STATUSES, runLimits, runStatus, tokens } from './run.ts';
import { count, flag, json, time, type Wire } from './shape.ts';

/** A run's own id, or whatever a caller takes for one: an id that does not fit is an unknown run. */
export const runId = z.strictObject({ id: z.string().meta({ description: 'The run.' }) });
const cursor = z.string().max(4096).meta({ description: 'From an earlier reply, unchanged.' });
const note = z.string().max(10_000).optional().meta({ description: 'A reason, which the model reads.' });
const attachments = z.array(part).max(32).optional();

export const createRun = z
  .strictObject({
    prompt: z.string(),
    agent: z.string().max(200).optional().meta({ description: 'The default agent of the first bundle when absent.' }),
    maxIterations: runLimits.shape.maxIterations.meta({ description: 'Short for `limits.maxIterations`.' }),
    limits: runLimits.optional(),
    metadata: metadata.optional(),
    attachments,
  })
  .meta({ id: 'CreateRun' });

export const listRuns = z.strictObject({
  status: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(RUN_STATUSES)).min(1))
    .optional()
    .meta({ description: 'Statuses, with commas between.', override: { type: 'string' } }),
  agent: z.string().max(200).optional(),
  q: z.string().min(1).max(200).optional().meta({ description: 'Part of the title, in any case.' }),
  archived: z.enum(['no', 'only', 'any']).optional(),
  parent: z.string().max(200).optional().meta({ description: 'Runs below this one.' }),
  label: z
    .string()
    .regex(/^[^=]{1,64}=.{0,512}$/s)
    .transform((text) => {
      const [name = '', ...value] = text.split('=');
      return { name, value: value.join('=') };
    })
    .optional()
    .meta({ description: 'Runs with this label in their metadata, as `name=value`.', override: { type: 'string' } }),
  cursor: cursor.optional(),
  limit: count(1, 100).optional(),
});

export const readPage = z.strictObject({
  limit: count(1, 100)
    .optional()
    .meta({ description: '50 when absent. What is out of range is refused, never clamped.' }),
  cursor: cursor.optional(),
  order: z.enum(['asc', 'desc']).optional(),
  view: z.enum(['all', 'messages']).optional().meta({ description: '`messages` leaves out how answers came about.' }),
});

export const followRun = z.strictObject({
  cursor: cursor.optional().meta({ description: 'Goes on after it. `Last-Event-ID` says the same and comes first.' }),
  deltas: flag.optional().meta({ description: 'Pieces of entries that are being made, too.' }),
  view: z.enum(['all', 'messages']).optional(),
  until: z.enum(['ended', 'removed']).optional().meta({ description: '`removed` stays for the next turn.' }),
});

export const readLog = z.strictObject({
  after: count(0, Number.MAX_SAFE_INTEGER).optional(),
  limit: count(1, 1000).optional(),
});
export const logPage = z
  .object({ facts: z.array(z.unknown()), hasMore: z.boolean() })
  .meta({ id: 'LogPage', description: 'Facts as docs/events.md has them.' });

const coldFinding = z.object({
  what: z.string(),
  predicted: z.int(),
  billed: z.int().optional(),
  cause: z.enum(['ours', 'expired', 'provider', 'unknown']).optional(),
  section: z.string().optional(),
  change: z.enum(['model', 'selection', 'bundle', 'compaction', 'clearing', 'gate']).optional(),
});

export const readCalls = z.strictObject({
  after: count(0, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'Calls with a higher `seq`.' }),
  limit: count(1, 1000).optional(),
});
export const callsPage = z
  .object({
    calls: z.array(
      z.object({
        seq: z.int(),
        turn: z.int(),
        iteration: z.int(),
        attempt: z.int(),
        purpose: z.string().optional(),
        provider: z.string(),
        model: z.string(),
        role: z.string(),
        served: z.string().optional(),
        at: time,
        ms: z.int().optional().meta({ description: 'Absent while it goes on.' }),
        stop: z.string().optional(),
        failure: z.object({ class: z.string(), message: z.string() }).optional(),
        usage: tokens,
        cost: cost.optional().meta({ description: 'Absent: unknown, or not over.' }),
        expectedRead: z
          .int()
          .optional()
          .meta({ description: 'Input tokens that a cache should have given. Absent: nobody knows of this provider.' }),
        markers: z.array(z.string()).optional(),
        unmarked: z.array(z.string()).optional(),
        changed: z.array(z.string()).meta({ description: 'Sections that differ from the call before.' }),
        cold: coldFinding.optional().meta({ description: 'Why a warm prompt was cold, and which change did it.' }),
      }),
    ),
    hasMore: z.boolean(),
  })
  .meta({ id: 'CallsPage' });

export const transcriptQuery = z.strictObject({
  format: z
    .enum(['md', 'jsonl'])
    .optional()
    .meta({ description: '`md`, for people, when absent; `jsonl` is an entry a line.' }),
});

export const promptOf = z.strictObject({
  id: z.string(),
  iteration: count(1, 1_000_000).meta({ description: 'Within its turn, from 1.' }),
});
export const promptQuery = z.strictObject({
  turn: count(1, 1_000_000).optional().meta({ description: 'The newest that has this iteration when absent.' }),
});
export const prompt = z
  .object({
    run: z.string(),
    turn: z.int(),
    iteration: z.int(),
    attempt: z.int(),
    model: z.object({ provider: z.string(), model: z.string() }),
    role: z.string(),
    purpose: z.string().optional(),
    sections: z.array(
      z.object({
        name: z.string(),
        lifetime: z.string(),
        digest: z.string(),
        bytes: z.int(),
        cached: z.boolean(),
        read: z
          .enum(['yes', 'partly', 'no'])
          .optional()
          .meta({ description: 'Whether it was read from a cache, by what was billed. Absent when nobody said.' }),
        text: z.string(),
      }),
    ),
    messages: json,
    toolChoice: json.optional(),
    allowed: z.array(z.string()).optional(),
    usage: tokens.optional(),
    stop: z.string().optional(),
    cache: z
      .object({
        expectedRead: z.int().optional(),
        markers: z.array(z.string()).optional(),
        unmarked: z.array(z.string()).optional(),
        cold: coldFinding.optional().meta({ description: 'Why a warm prompt was cold, and which change did it.' }),
      })
      .meta({ description: 'What was expected of the provider’s cache, and what came of it.' }),
  })
  .meta({ id: 'Prompt', description: 'What the model saw in one iteration.' });

export const sayToRun = z
  .strictObject({
    content: z.string(),
    mode: z.enum(['followup', 'steer', 'message']).optional().meta({
      description: '`followup` (when absent) is read before the next model call, `steer` interrupts.',
    }),
    attachments,
  })
  .meta({ id: 'Message' });

export const answer = z
  .strictObject({
    request: z.string(),
    digest: z.string().meta({ description: 'As it stood in the request.' }),
    run: z.string().optional(),
    decision,
    arguments: json.optional().meta({
      description: 'All new arguments of an `edit`; of a plan, `{ steps: [{ title, detail? }] }`, all of its steps.',
    }),
    text: z.string().optional().meta({ description: 'The words of a `reply`.' }),
    note,
    allow: z.enum(ALLOW_SCOPES).optional().meta({
      description: 'How far an `allow` reaches, as far as the request offers it. Absent: to this one action.',
    }),
  })
  .meta({ id: 'Answer' });
export const answers = z.array(answer).min(1).max(100);

export const receipt = z
  .object({
    request: z.string(),
    run: z.string(),
    decision,
    arguments: json.optional(),
    text: z.string().optional(),
    note: z.string().optional(),
    allow: z.enum(ALLOW_SCOPES).optional(),
    by: z.string(),
    at: time,
    repeated: z.boolean().meta({ description: 'It had been answered before: this is that answer.' }),
  })
  .meta({ id: 'Receipt' });
export const answered = z
  .object({
    receipts: z.array(receipt),
    open: z.array(openRequest).meta({ description: 'Still waiting for an answer.' }),
    status: runStatus,
    version: z.int(),
  })
  .meta({ id: 'Answered' });
export type WireAnswered = Wire<typeof answered>;

export const noted = z.strictObject({ note });
export const empty = z.strictObject({});

export const resumeRun = z
  .strictObject({ limits: runLimits.optional() })
  .meta({ id: 'ResumeRun', description: '`limits` replace those that the run had.' });

export const forkRun = z
  .strictObject({
    at: z.string().max(200).optional().meta({ description: 'The entry after which the copy ends.' }),
    content: z.string().optional().meta({
      description: 'Said in place of the message at `at`, which has to be one that begins a turn.',
    }),
    metadata: metadata.optional(),
  })
  .meta({ id: 'Fork' });

export const renameRun = z.strictObject({ title: z.string().max(200) }).meta({ id: 'Rename' });
export const archiveRun = z.strictObject({ archived: z.boolean().optional() });

export const delivery = z
  .strictObject({
    ticket: z.string().max(500),
    outcome: z.enum(['ok', 'failed']),
    value: json.optional(),
    content: z.array(part).optional(),
    error: z.strictObject({ code: z.string().max(100), message: z.string().max(100_000) }).optional(),
  })
  .meta({ id: 'Delivery', description: 'What came of a computation that an action waits for.' });

export const sourceEvents = z
  .strictObject({
    source: z.string().max(100).meta({ description: 'The service, by its namespace.' }),
    events: z
      .array(
        z.strictObject({
          id: z
            .string()
            .min(1)
            .max(200)
            .optional()
            .meta({ description: 'One of this id is heard once. Absent: its text.' }),
          text: z.string().min(1).max(100_000),
          at: time.optional().meta({ description: 'When it happened.' }),
        }),
      )
      .min(1)
      .max(50),
  })
  .meta({
    id: 'SourceEvents',
    description:
      'What happened in a service that the agent listens to. A turn at work reads it before its next model call; otherwise the next turn begins with it.',
  });

export const agentList = z
  .object({
    agents: z.array(
      z.object({
        name: z.string(),
        bundle: z.string(),
        isDefault: z.boolean(),
        description: z.string().optional(),
        starters: z.array(z.string()).optional().meta({ description: 'First messages to offer.' }),
        model: z
          .object({ provider: z.string(), model: z.string(), why: z.enum(['key', 'local', 'scripted']) })
          .optional()
          .meta({ description: 'What `auto` stands for here. Absent where the bundle names its models.' }),
        refusedEdit: z
          .object({ at: time, kind: z.enum(['wrong', 'restart']) })
          .optional()
          .meta({ description: 'An edit of its bundle that does not count. The details of the agent say why.' }),
      }),
    ),
  })
  .meta({ id: 'AgentList' });

/** Who asks, as the server knows them: what a page offers depends on it. */
const day = z.iso.date();
export const usageQuery = z.strictObject({
  by: z.enum(['user', 'agent', 'model', 'day']),
  per: z.enum(['day', 'month']).optional().meta({ description: 'A row for each day or month of its own.' }),
  user: z.string().max(200).optional().meta({ description: 'One user’s. Without the scope `admin`, your own.' }),
  agent: z.string().max(500).optional().meta({ description: 'One agent’s, by its key in rows by agent.' }),
  model: z.string().max(500).optional().meta({ description: 'One model’s, as `provider/model`.' }),
  from: day.optional().meta({ description: 'A day in UTC, included.' }),
  to: day.optional().meta({ description: 'A day in UTC, included.' }),
});
export const usageReply = z
  .object({
    rows: z.array(
      z.object({
        key: z
          .string()
          .meta({ description: 'Of an agent: its name, and where that is not served its bundle before it.' }),
        period: z.string().optional().meta({ description: '`2026-11-30` or `2026-11`, as `per` asks.' }),
        calls: z.int(),
        usage: tokens,
        cost: cost.optional().meta({ description: 'Absent when any part of it is unknown.' }),
        knownCost: cost.optional().meta({ description: 'What is known of the cost.' }),
        unpriced: z.int().optional().meta({ description: 'Calls of models without a known price.' }),
        unreported: z.int().optional().meta({ description: 'Calls that may have been billed and were not reported.' }),
      }),
    ),
  })
  .meta({ id: 'UsageRows' });
