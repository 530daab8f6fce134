import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { agentDetails, type AgentDetails } from '../grant/agent-details.ts';
import type { Metering } from '../metering/install.ts';
import { budgetStandings, type BudgetStanding } from '../metering/standings.ts';
import { planOf, type BundlePlan } from '../bundle/plan.ts';
import { pricingOf } from '../models/pricing.ts';
import { permit, type Caller } from '../runs/caller.ts';
import type { ServedBundles } from '../bundle/served-bundles.ts';

/** What an edit of a bundle does, and what of it could not be looked at. */
export interface EditPlan extends BundlePlan {
  readonly bundle: string;
  readonly before: string;
  readonly after: string;
  readonly notes: readonly string[];
}

/** For whoever operates the agents. Every method throws `insufficient_scope` first. */
export interface Operate {
  /** Scope `admin`. Throws `agent_unknown`. */
  details(caller: Caller, agent: string): Promise<AgentDetails>;
  /** Scope `admin`. Asks a tool server now, also one that is left alone for a while. False where there is none. */
  askServer(caller: Caller, agent: string, server: string): Promise<boolean>;
  /** Scope `admin`. What an edit of the agent's bundle would do. Nothing is changed. Throws `agent_unknown`, `bundle_invalid`. */
  plan(caller: Caller, agent: string, text: string): Promise<EditPlan>;
  /** Scope `read`. The budgets that the caller comes under; for an admin the whole tenant's. */
  budgets(caller: Caller): Promise<readonly BudgetStanding[]>;
}

export interface OperatePorts {
  readonly served: ServedBundles;
  readonly log: Log;
  readonly clock: Clock;
  readonly metering: Metering | undefined;
}

export function createOperate({ served, log, clock, metering }: OperatePorts): Operate {
  return {
    async details(caller, name) {
      permit(caller, 'admin');
      const { bundle, agent } = served.agentNamed(name);
      return agentDetails(bundle, agent, clock);
    },
    async askServer(caller, name, server) {
      permit(caller, 'admin');
      return served.agentNamed(name).bundle.loaded.servers.ask(server);
    },
    async plan(caller, name, text) {
      permit(caller, 'admin');
      const { bundle } = served.agentNamed(name);
      const before = bundle.loaded;
      const { loaded: after, notes, masked } = await bundle.edited(text);
      try {
        for (const one of [before, after]) await Promise.all(one.agents.map(async (id) => one.agentNow(id)));
        const price = pricingOf(after.bundle.prices, clock);
        const found = await planOf({ before, after, known: bundle.plugins, log, clock, price });
        const hidden = (changes: BundlePlan['changes']) =>
          changes.map(({ kind, what }) => ({ kind, what: masked(what) }));
        return {
          ...{ bundle: before.id, before: before.revision, after: after.revision },
          changes: hidden(found.changes),
          agents: found.agents.map((one) => ({ ...one, changes: hidden(one.changes) })),
          notes,
        };
      } finally {
        await after.close();
      }
    },
    async budgets(caller) {
      permit(caller, 'read');
      if (metering?.budgets === undefined) return [];
      return budgetStandings({ ledger: metering.meter.ledger, budgets: metering.budgets, clock }, caller);
    },
  };
}
