import { isoTime } from '../../base/clock.ts';
import type { AgentDetails } from '../../platform/grant/agent-details.ts';
import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import { Refusal } from '../refusal.ts';
import type { agentDetails, operateRoutes, Wire } from '../wire.ts';
import { priced } from './selections.ts';

/** What is served, for whoever operates it. Whatever they may not ask, it refuses. */
export function operateHandlers({ operate }: Pick<Host, 'operate'>): Handlers<typeof operateRoutes> {
  return {
    readAgentDetails: async ({ params }, { caller }) => ({ body: told(await operate.details(caller, params.agent)) }),
    async askServer({ params: { agent, server } }, { caller }) {
      if (!(await operate.askServer(caller, agent, server))) throw new Refusal('not_found');
      return { body: told(await operate.details(caller, agent)) };
    },
    async planEdit({ params, body }, { caller }) {
      const { agents, ...rest } = await operate.plan(caller, params.agent, body.bundle);
      const wired = agents.map((one) => ({ ...one, consequence: priced(one.consequence) }));
      return { body: { ...rest, agents: wired } };
    },
    listBudgets: async (_, { caller }) => ({ body: { budgets: await operate.budgets(caller) } }),
  };
}

function told({ plugins, servers, unavailable, skills, ...rest }: AgentDetails): Wire<typeof agentDetails> {
  return {
    ...rest,
    unavailable: unavailable.map(({ name, group, why }) => ({ name, group, why })),
    skills: skills.map(({ id, name, description, requires }) => ({ id, name, description, requires })),
    plugins: plugins.map(({ id, about, gates, priorities, listens, answers, announces }) => ({
      ...{ id, about, listens, answers, announces },
      judges: gates.map((question, index) => ({ question, priority: priorities[index] ?? 0 })),
    })),
    servers: servers.map(({ why, listedAt, retryAt, ...server }) => ({
      ...server,
      ...(why !== undefined && { why }),
      ...(listedAt !== undefined && { listedAt: isoTime(listedAt) }),
      ...(retryAt !== undefined && { retryAt: isoTime(retryAt) }),
    })),
  };
}
