import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import type { nexustradeRoutes } from '../wire.ts';

/** The same runs under `agent`, for clients that were written for the earlier API. */
export function nexustradeHandlers({ runs }: Pick<Host, 'runs'>): Handlers<typeof nexustradeRoutes> {
  return {
    async createAgent({ body: { prompt, maxIterations } }, { caller, key }) {
      const limits = maxIterations === undefined ? undefined : { maxIterations };
      const { run, fresh } = await runs.create(caller, { prompt, limits, key });
      return { body: { agent: run }, repeated: !fresh };
    },
    async listAgentRuns({ query }, { caller }) {
      const { runs: agents, ...rest } = await runs.list(caller, query);
      return { body: { agents, ...rest } };
    },
    readAgent: async ({ params }, { caller }) => ({ body: { agent: await runs.snapshot(caller, params.id) } }),
    readAgentEvents: async ({ params, query }, { caller }) => ({
      body: await runs.events(caller, params.id, {
        ...query,
        view: query.cursor === undefined ? 'messages' : undefined,
      }),
    }),
    approveAgent: async ({ params }, { caller }) => ({ body: { agent: await runs.approve(caller, params.id) } }),
    rejectAgent: async ({ params, body }, { caller }) => ({
      body: { agent: await runs.reject(caller, params.id, body.note) },
    }),
    stopAgent: async ({ params }, { caller }) => ({ body: { agent: await runs.stop(caller, params.id) } }),
    async sayToAgent({ params, body }, { caller, key }) {
      const { run, fresh } = await runs.say(caller, params.id, { content: body.content, key });
      return { body: { agent: run }, repeated: !fresh };
    },
  };
}
