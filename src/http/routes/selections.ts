import { isoTime } from '../../base/clock.ts';
import type { Consequence } from '../../assembly/consequence.ts';
import type { PendingChange } from '../../domain/selection-record.ts';
import type { Host } from '../../platform/hosting/host.ts';
import { permit } from '../../platform/runs/caller.ts';
import type { ChangePart, ChangeRequest } from '../../platform/selections/planned-change.ts';
import type { Handlers } from '../endpoint.ts';
import type { changeSelection, selectionRoutes, Wire } from '../wire.ts';

/** Users' choices. A sandbox has none: nothing that a model runs changes what the model may do. */
export function selectionHandlers({ selections }: Pick<Host, 'selections'>): Handlers<typeof selectionRoutes> {
  return {
    async readCapabilities({ params, query }, { caller }) {
      permit(caller, 'read');
      const { models, defaultModel, consequences, pending, ...rest } = await selections.capabilities(
        caller,
        params.agent,
        query,
      );
      return {
        body: {
          ...rest,
          supported_models: models.map(({ ref: { provider, model }, label }) => ({ provider, model, label })),
          default_model: defaultModel && { provider: defaultModel.provider, model: defaultModel.model },
          pending: pending.map(waiting),
          consequences: consequences?.map((one) => ({ ...one, consequence: priced(one.consequence) })),
        },
      };
    },
    async changeSelection({ params, body }, { caller }) {
      permit(caller, 'run');
      const { parts, pending, ...rest } = await selections.update(caller, params.agent, requestOf(body));
      return { body: { ...rest, parts: parts.map(partOf), pending: pending.map(waiting) } };
    },
    async readConsequence({ params, body }, { caller }) {
      permit(caller, 'read');
      const { parts, pending, ...rest } = await selections.consequence(caller, params.agent, requestOf(body));
      return { body: { ...rest, parts: parts.map(partOf), pending: pending.map(waiting) } };
    },
  };
}

function requestOf(body: Wire<typeof changeSelection>): ChangeRequest {
  const { conversation, decision, replace, drop_pending: dropPending, ...patch } = body;
  return { patch: patch as ChangeRequest['patch'], conversation, decision, replace, dropPending }; // read-only on the wire, and nobody changes it
}

function waiting({ at, ...rest }: PendingChange): Omit<PendingChange, 'at'> & { readonly at: string } {
  return { ...rest, at: isoTime(at) };
}

function partOf({
  consequence,
  ...rest
}: ChangePart): Omit<ChangePart, 'consequence'> & { readonly consequence: WireConsequence } {
  return { ...rest, consequence: priced(consequence) };
}

type WireConsequence = Omit<Consequence, 'assumes'> & {
  readonly assumes: { readonly warmUntil?: string; readonly prices: Consequence['assumes']['prices'] };
};

/** Times go over the wire as text. */
export function priced({ assumes: { warmUntil, prices }, ...rest }: Consequence): WireConsequence {
  return { ...rest, assumes: { prices, ...(warmUntil === undefined ? {} : { warmUntil: isoTime(warmUntil) }) } };
}
