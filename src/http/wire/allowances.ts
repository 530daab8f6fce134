import { z } from 'zod';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import type { RouteTable } from './route.ts';
import { time, type Wire } from './shape.ts';

const ofRun = z.strictObject({
  run: z.string().max(200).optional().meta({ description: 'Also what was allowed for this run alone.' }),
});

export const allowanceView = z
  .object({
    id: z.string(),
    scope: z.enum(STANDING_SCOPES),
    tool: z.string(),
    about: z.string().meta({ description: 'What it is a yes to, in words.' }),
    gates: z.array(z.string()).meta({ description: 'The gates that ask no more.' }),
    bundle: z.string(),
    agent: z.string(),
    run: z.string().meta({ description: 'Where it was said.' }),
    by: z.string(),
    at: time,
  })
  .meta({
    id: 'Allowance',
    description:
      'A yes for more than one action. It ends when it is revoked, and counts no more once the tool is described otherwise.',
  });
export type WireAllowance = Wire<typeof allowanceView>;

/** What people have allowed beyond one action. Only an answer to a request makes one. */
export const allowanceRoutes = {
  listAllowances: {
    method: 'GET',
    path: '/allowances',
    about: 'What you have allowed for always, the newest first.',
    scope: 'read',
    query: ofRun,
    status: 200,
    reply: z.object({ allowances: z.array(allowanceView) }).meta({ id: 'AllowanceList' }),
    refuses: ['not_found'],
  },
  revokeAllowance: {
    method: 'DELETE',
    path: '/allowances/{id}',
    about: 'Take it back: from now on you are asked again.',
    scope: 'run',
    params: z.strictObject({ id: z.string() }),
    query: ofRun,
    mutation: true,
    status: 204,
    refuses: [],
  },
} as const satisfies RouteTable;
