import { z } from 'zod';
import { json, time } from './shape.ts';
import { consequence } from './selections.ts';
import type { RouteTable } from './route.ts';

const agentName = z.strictObject({ agent: z.string().meta({ description: 'The agent’s name.' }) });
const rates = z
  .object({
    input: z.string().optional(),
    cacheRead: z.string().optional(),
    cacheWrite: z.string().optional(),
    cacheWriteLong: z.string().optional(),
    output: z.string().optional(),
  })
  .meta({ description: 'US dollars per million tokens today, of prompts of the usual length. Absent is unknown.' });

export const agentDetails = z
  .object({
    agent: z.string(),
    bundle: z.string(),
    revision: z.string(),
    roles: z.array(
      z.object({
        role: z.string(),
        decides: z.boolean().meta({ description: 'Its models decide; other roles summarise, or are named.' }),
        models: z.array(
          z.object({
            provider: z.string(),
            model: z.string(),
            rates: rates.optional(),
            basis: z.enum(['list', 'configured', 'unknown']),
          }),
        ),
      }),
    ),
    tools: z.array(
      z.object({
        name: z.string(),
        own: z.string().meta({ description: 'What it is called within its group.' }),
        group: z.string(),
        kind: z.enum(['tools', 'mcp', 'named_services']),
        description: z.string(),
        effect: z.enum(['read', 'idempotent', 'once']),
        asks: z.boolean().meta({ description: 'A person is asked before every run.' }),
        stances: z
          .array(
            z.object({
              by: z.string().meta({ description: 'The gate; `tool` where the tool looks at its own arguments.' }),
              then: z.enum(['allow', 'ask', 'deny']),
              when: z.string().optional().meta({ description: 'Of which runs, in words; of all others when absent.' }),
              why: z.string().optional(),
              from: z.string().optional().meta({ description: 'Its place in the bundle: `file:line:column  path`.' }),
            }),
          )
          .meta({ description: 'What gates say of its runs, by the bundle alone; of each gate the first that fits.' }),
        locked: z.boolean(),
        needs: z.object({ provider: z.string(), claims: z.array(z.string()) }).optional(),
      }),
    ),
    unavailable: z.array(z.object({ name: z.string(), group: z.string(), why: z.string() })),
    skills: z.array(
      z.object({ id: z.string(), name: z.string(), description: z.string(), requires: z.array(z.string()) }),
    ),
    services: z.array(z.object({ namespace: z.string(), label: z.string(), description: z.string() })),
    servers: z.array(
      z.object({
        id: z.string(),
        transport: z.enum(['stdio', 'http']),
        status: z.enum(['idle', 'up', 'down']).meta({ description: '`idle`: nobody has asked it yet.' }),
        isConnected: z.boolean(),
        why: z.string().optional(),
        tools: z.array(z.string()).meta({ description: 'As it last listed them.' }),
        listedAt: time.optional(),
        retryAt: time.optional().meta({ description: 'Until then it is not asked again.' }),
        failures: z.int().meta({ description: 'Attempts in a row that failed.' }),
      }),
    ),
    plugins: z.array(
      z.object({
        id: z.string(),
        about: z.string(),
        judges: z.array(z.object({ question: z.string(), priority: z.number() })),
        listens: z.array(z.string()),
        answers: z.array(z.string()),
        announces: z.array(z.string()),
      }),
    ),
    settings: z.array(z.object({ key: z.string(), value: json, from: z.string() })),
    refusedEdit: z
      .object({
        at: time,
        kind: z.enum(['wrong', 'restart']).meta({
          description: '`wrong`: it has mistakes. `restart`: it asks for what a running process cannot take over.',
        }),
        why: z.string(),
        hint: z.string(),
      })
      .optional()
      .meta({ description: 'The last edit of the file, where it does not count: the one before does.' }),
    notices: z.array(z.object({ place: z.string(), text: z.string() })),
  })
  .meta({ id: 'AgentDetails', description: 'An agent as it is for turns that begin now.' });

const changes = z.array(
  z.object({
    kind: z.enum(['widens', 'narrows', 'rewrites', 'free']).meta({
      description:
        '`widens`: it may do more. `narrows`: less. `rewrites`: prompts begin otherwise, which costs a cold turn.',
    }),
    what: z.string(),
  }),
);

export const editPlan = z
  .object({
    bundle: z.string(),
    before: z.string().meta({ description: 'Revision of what runs.' }),
    after: z.string().meta({ description: 'Revision of the edit; the same where nothing differs.' }),
    changes: changes.meta({ description: 'Of the bundle as a whole: agents and plugins.' }),
    agents: z.array(
      z.object({
        agent: z.string(),
        changes,
        active: z.int().meta({ description: 'Conversations that were used within the last hour.' }),
        cold: z.int().meta({ description: 'Of these, those whose prompt is warm and would be cold.' }),
        consequence,
      }),
    ),
    notes: z.array(z.string()).meta({ description: 'What could not be looked at.' }),
  })
  .meta({ id: 'EditPlan', description: 'What an edit of a bundle does.' });

const figure = z.string().meta({ description: 'Decimal text.' });
export const budgetList = z
  .object({
    budgets: z.array(
      z.object({
        holder: z.enum(['user', 'tenant']),
        name: z.string(),
        period: z.string().meta({ description: '`2026-11-30` or `2026-11`, in UTC.' }),
        measure: z.enum(['calls', 'actions', 'tokens', 'money']),
        cap: figure,
        spent: figure,
        reserved: figure.meta({ description: 'Set aside for what is under way.' }),
        left: figure.meta({ description: 'Never below zero.' }),
        isBlocked: z.boolean().meta({ description: 'Nothing is left: further calls are refused.' }),
      }),
    ),
  })
  .meta({ id: 'BudgetList' });

/** What is served, how it stands, and what an edit of it would do. */
export const operateRoutes = {
  readAgentDetails: {
    method: 'GET',
    path: '/agents/{agent}',
    about: 'What an agent is declared and granted, its plugins, models with prices, and how its tool servers stand.',
    scope: 'admin',
    params: agentName,
    status: 200,
    reply: agentDetails,
    refuses: ['agent_unknown'],
  },
  askServer: {
    method: 'POST',
    path: '/agents/{agent}/servers/{server}/ask',
    about: 'Ask an MCP server for its tools now, also one that is left alone for a while.',
    scope: 'admin',
    params: agentName.extend({ server: z.string() }),
    body: z.strictObject({}),
    bodyOptional: true,
    status: 200,
    reply: agentDetails,
    refuses: ['agent_unknown', 'not_found'],
  },
  planEdit: {
    method: 'POST',
    path: '/agents/{agent}/plan',
    about:
      'What an edit of the agent’s bundle would allow, forbid and cost. Nothing is changed, and nothing is loaded that the running bundle does not use.',
    scope: 'admin',
    params: agentName,
    body: z
      .strictObject({ bundle: z.string().min(1).meta({ description: 'The whole bundle, as YAML.' }) })
      .meta({ id: 'PlanEdit' }),
    status: 200,
    reply: editPlan,
    refuses: ['agent_unknown', 'bundle_invalid'],
  },
  listBudgets: {
    method: 'GET',
    path: '/budgets',
    about: 'What users and the tenant may spend, and what is left. Your own; for an admin everybody’s.',
    scope: 'read',
    status: 200,
    reply: budgetList,
    refuses: [],
  },
} as const satisfies RouteTable;
