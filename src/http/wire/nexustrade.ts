import { z } from 'zod';
import { page } from './page.ts';
import { empty, listRuns, noted, readPage, runId } from './requests.ts';
import type { RouteTable } from './route.ts';
import { runLimits, runSummary, snapshot } from './run.ts';
import type { Wire } from './shape.ts';

/** Where the routes of `nexustradeRoutes` begin. */
export const NEXUSTRADE_API = '/api/v1/nexustrade';

export const agentReply = z
  .object({ agent: snapshot })
  .meta({ id: 'AgentReply', description: 'A run under the name that clients of this surface know it by.' });
export type WireAgent = Wire<typeof agentReply>;

const agents = z
  .object({ agents: z.array(runSummary), hasMore: z.boolean(), nextCursor: z.string().optional() })
  .meta({ id: 'AgentRuns' });

const create = z
  .strictObject({ prompt: z.string(), maxIterations: runLimits.shape.maxIterations })
  .meta({ id: 'CreateAgent' });
const message = z.strictObject({ content: z.string() }).meta({ id: 'AgentMessage' });

/**
 * The same runs in the words of an earlier API, for clients that were written for it. Bad input is 400 throughout, only
 * API keys are let in, and approving names no request: it works while exactly one is open.
 */
export const nexustradeRoutes = {
  createAgent: {
    method: 'POST',
    path: '/agents',
    about: 'Begin a run with the default agent.',
    scope: 'run',
    body: create,
    mutation: true,
    status: 200,
    reply: agentReply,
    refuses: [],
  },
  listAgentRuns: {
    method: 'GET',
    path: '/agents',
    about: 'Runs, the newest first.',
    scope: 'read',
    query: listRuns,
    status: 200,
    reply: agents,
    refuses: ['invalid_cursor'],
  },
  readAgent: {
    method: 'GET',
    path: '/agents/{id}',
    about: 'A run at this moment.',
    scope: 'read',
    params: runId,
    status: 200,
    reply: agentReply,
    refuses: [],
  },
  readAgentEvents: {
    method: 'GET',
    path: '/agents/{id}/events',
    about: 'A page of its messages.',
    scope: 'read',
    params: runId,
    query: readPage.omit({ view: true }),
    status: 200,
    reply: page,
    refuses: ['invalid_cursor'],
  },
  approveAgent: {
    method: 'POST',
    path: '/agents/{id}/approve',
    about: 'Say yes to the one approval that is open.',
    scope: 'approve',
    params: runId,
    body: empty,
    bodyOptional: true,
    mutation: true,
    status: 200,
    reply: agentReply,
    refuses: ['nothing_pending', 'ambiguous_request'],
  },
  rejectAgent: {
    method: 'POST',
    path: '/agents/{id}/reject',
    about: 'Say no to the one approval that is open.',
    scope: 'run',
    params: runId,
    body: noted,
    bodyOptional: true,
    mutation: true,
    status: 200,
    reply: agentReply,
    refuses: ['nothing_pending', 'ambiguous_request'],
  },
  stopAgent: {
    method: 'POST',
    path: '/agents/{id}/stop',
    about: 'Ask the run and all below it to stop.',
    scope: 'run',
    params: runId,
    body: empty,
    bodyOptional: true,
    mutation: true,
    status: 200,
    reply: agentReply,
    refuses: [],
  },
  sayToAgent: {
    method: 'POST',
    path: '/agents/{id}/messages',
    about: 'Say something. To a run that has ended it begins a new turn.',
    scope: 'run',
    params: runId,
    body: message,
    mutation: true,
    status: 200,
    reply: agentReply,
    refuses: [],
  },
} as const satisfies RouteTable;
