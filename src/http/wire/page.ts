import { z } from 'zod';
import { openRequest, pendingApproval, runStatus, statusKind, waitingOn } from './run.ts';
import { json, time, type Wire } from './shape.ts';

export const ENTRY_ROLES = ['user', 'assistant', 'thinking', 'call', 'action', 'plan', 'notice', 'end'] as const;

export const entry = z
  .object({
    id: z.string(),
    digest: z.string().meta({ description: 'Which of its contents this is. Compare for equality, no more.' }),
    role: z.enum(ENTRY_ROLES),
    text: z.string(),
    data: json.optional(),
    position: z.int().meta({ description: 'Place in the conversation, from 1. Never changes.' }),
    revision: z.int().meta({ description: 'Sequence number of the fact that last changed it.' }),
    at: time,
    turn: z.int().optional(),
  })
  .meta({
    id: 'Entry',
    description: 'A line of a conversation. It keeps its id and gets a new digest when it changes.',
  });
export type WireEntry = Wire<typeof entry>;

const state = {
  status: runStatus,
  needsInput: z.boolean(),
  terminal: z.boolean(),
  pendingApproval: pendingApproval.optional().meta({ description: 'Present only while one is open.' }),
  version: z.int(),
};

export const page = z
  .object({
    events: z.array(entry),
    nextCursor: z.string().meta({ description: 'Always usable, also after an empty page. Send it back unchanged.' }),
    hasMore: z.boolean().meta({ description: 'There is more to read right now, also of a run that has ended.' }),
    supersededFirst: z
      .boolean()
      .meta({ description: 'The first event was delivered under this cursor before, with another digest.' }),
    ...state,
  })
  .meta({ id: 'Page' });
export type WirePage = Wire<typeof page>;

/** What a stream hands out, in order: the type is the SSE event, the cursor its id. */
export const frame = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('entry'), entry, cursor: z.string() }),
    z.object({
      type: z.literal('delta'),
      id: z.string().meta({ description: 'The id that the entry will have.' }),
      kind: z.enum(['text', 'thinking', 'action', 'progress']),
      attempt: z.int().meta({ description: 'A higher one begins anew.' }),
      delta: z.string(),
      name: z.string().optional(),
    }),
    z.object({
      type: z.literal('activity'),
      state: z.enum(['thinking', 'tool_running', 'waiting', 'idle']),
      detail: z.string().optional(),
    }),
    z.object({
      type: z.literal('status'),
      ...state,
      statusKind,
      waitingOn: z.array(waitingOn),
      requests: z.array(openRequest),
      cursor: z.string(),
    }),
    z
      .object({ type: z.literal('gap'), dropped: z.int() })
      .meta({ description: 'So many deltas were let go. What was put together of them is void and begins anew.' }),
    z.object({ type: z.literal('end'), status: runStatus, cursor: z.string() }),
  ])
  .meta({ id: 'Frame' });
export type WireFrame = Wire<typeof frame>;
