import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import { Refusal } from '../refusal.ts';
import type { allowanceRoutes } from '../wire.ts';

/** What people have allowed beyond one action: seen, and taken back. */
export function allowanceHandlers({ allowances }: Pick<Host, 'allowances'>): Handlers<typeof allowanceRoutes> {
  return {
    async listAllowances({ query }, { caller }) {
      const found = await allowances.list(caller, query);
      return { body: { allowances: found.map((one) => ({ ...one, gates: [...one.gates] })) } };
    },
    async revokeAllowance({ params, query }, { caller }) {
      if (!(await allowances.revoke(caller, params.id, query))) throw new Refusal('not_found');
      return undefined;
    },
  };
}
