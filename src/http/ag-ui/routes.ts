import { z } from 'zod';
import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import { callerName } from '../identify.ts';
import type { Streams } from '../streams.ts';
import type { RouteTable } from '../wire.ts';

export const agUiRoutes = {
  exchange: {
    method: 'POST',
    path: '/ag-ui/{agent}',
    about: 'One exchange with an agent over the AG-UI protocol: a RunAgentInput, answered by a stream of its events.',
    scope: 'run',
    params: z.strictObject({ agent: z.string() }),
    body: z.unknown(),
    status: 200,
    contentType: 'text/event-stream',
    refuses: ['too_many_streams'],
  },
} as const satisfies RouteTable;

/** Front ends that speak AG-UI. A page that goes away stops nothing: it comes back with the same thread. */
export function agUiHandlers({ runs }: Pick<Host, 'runs'>, streams: Streams): Handlers<typeof agUiRoutes> {
  return {
    async exchange({ params: { agent }, body }, { caller, context }) {
      // Loaded with the first page: a server that has none starts without the protocol's library.
      const [{ exchange, written }, { parseInput }] = await Promise.all([
        import('./exchange.ts'),
        import('./input.ts'),
      ]);
      const input = parseInput(body);
      const open = (signal: AbortSignal) => exchange({ runs, caller, agent, input, signal });
      return streams.answer(context, callerName(caller), open, written);
    },
  };
}
