import { isoTime, type Clock, type Instant } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { GrantedSkill, UnavailableTool } from '../../domain/grant.ts';
import type { Effect } from '../../domain/tool.ts';
import type { Manifest } from '../../kernel/plugin.ts';
import { resolveRole, roleNames, roleTables } from '../../assembly/roles.ts';
import { shippedRoles } from '../../domain/declared-model.ts';
import type { ServerHealth } from '../../adapters/mcp/standing.ts';
import { Money } from '../../adapters/prices/money.ts';
import { createPriceList } from '../../adapters/prices/price-list.ts';
import type { OpenBundle } from '../bundle/open-bundle.ts';
import type { RefusedEdit } from '../bundle/reload.ts';
import { alwaysAsks, toolStances, type ToolStance } from './tool-stances.ts';

/** All that an operator may want to know of an agent, as it is for turns that begin now. */
export interface AgentDetails {
  readonly agent: string;
  readonly bundle: string;
  /** Digest of the bundle. */
  readonly revision: string;
  readonly roles: readonly RoleDetails[];
  readonly tools: readonly ToolDetails[];
  /** Tools that are granted and that nobody has for now. */
  readonly unavailable: readonly UnavailableTool[];
  readonly skills: readonly GrantedSkill[];
  readonly services: readonly { readonly namespace: string; readonly label: string; readonly description: string }[];
  readonly servers: readonly ServerHealth[];
  readonly plugins: readonly Manifest[];
  readonly settings: readonly { readonly key: string; readonly value: Json; readonly from: string }[];
  /** The last edit of the bundle's file, where it does not count. */
  readonly refusedEdit?: {
    readonly at: string;
    readonly kind: RefusedEdit['kind'];
    readonly why: string;
    readonly hint: string;
  };
  /** What was mapped, guessed or left out while the bundle was loaded, and what is odd about its servers. */
  readonly notices: readonly { readonly place: string; readonly text: string }[];
}

export interface RoleDetails {
  readonly role: string;
  /** This role decides; the others are for summaries, or for who names them. */
  readonly decides: boolean;
  readonly models: readonly ModelDetails[];
}

/** A model with its price in US dollars per million tokens, today; no rates where the price is not known. */
export interface ModelDetails {
  readonly provider: string;
  readonly model: string;
  readonly rates?: Readonly<Partial<Record<RatePart, string>>>;
  readonly basis: 'list' | 'configured' | 'unknown';
}

const RATE_PARTS = ['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'output'] as const;
export type RatePart = (typeof RATE_PARTS)[number];

export interface ToolDetails {
  readonly name: string;
  readonly own: string;
  readonly group: string;
  readonly kind: 'tools' | 'mcp' | 'named_services';
  readonly description: string;
  readonly effect: Effect;
  /** A person is asked before every run, whoever wants that. */
  readonly asks: boolean;
  /** What gates say of its runs, as far as the bundle tells. Empty: it runs. */
  readonly stances: readonly ToolStance[];
  readonly locked: boolean;
  readonly needs?: { readonly provider: string; readonly claims: readonly string[] };
}

/** Looks at an agent as it is now; a tool server is asked where that is due. */
export async function agentDetails(bundle: OpenBundle, id: string, clock: Clock): Promise<AgentDetails> {
  const { loaded, manifests, model: chosen, refusedEdit } = bundle;
  const agent = await loaded.agentNow(id);
  const { grant, role } = agent;
  const tables = roleTables(loaded.bundle, id, shippedRoles);
  const names = [...new Set([role, ...roleNames(tables)])];
  return {
    agent: id,
    bundle: loaded.id,
    revision: loaded.revision,
    roles: names.flatMap((name) => {
      const found = resolveRole(tables, name, []);
      if (!found.ok) return [];
      const models = found.models.map((ref) =>
        priced(ref.provider === 'auto' && chosen !== undefined ? chosen.ref : ref, loaded.bundle.prices, clock.now()),
      );
      return [{ role: name, decides: name === role, models }];
    }),
    tools: grant.tools.map((tool) => {
      const { definition, own, kind = 'tools', locked, needs } = tool;
      const stances = toolStances({ loaded, known: bundle.plugins }, agent, tool);
      return {
        ...{ name: definition.name, own, kind, group: definition.group, description: definition.description },
        ...{ effect: definition.effect, asks: alwaysAsks(stances), stances, locked },
        ...(needs !== undefined && { needs }),
      };
    }),
    unavailable: grant.unavailable,
    skills: grant.skills ?? [],
    services: grant.services ?? [],
    servers: loaded.servers.health(),
    plugins: manifests,
    settings: loaded.explain(id),
    ...(refusedEdit !== undefined && { refusedEdit: { ...refusedEdit, at: isoTime(refusedEdit.at) } }),
    notices: [...loaded.notices, ...loaded.serverNotices()],
  };
}

/** So few that no price of long prompts counts. */
const SAMPLE = 1_000;

/** What a million tokens of each part cost today. */
function priced(ref: ModelRef, declared: OpenBundle['loaded']['bundle']['prices'], at: Instant): ModelDetails {
  const { provider, model } = ref;
  const list = createPriceList(declared);
  const rates = Object.fromEntries(
    RATE_PARTS.flatMap((part) => {
      const cost = list.cost(ref, { [part]: SAMPLE }, at);
      return cost === undefined ? [] : [[part, new Money(cost).times(1_000_000 / SAMPLE).toFixed()] as const];
    }),
  );
  if (Object.keys(rates).length === 0) return { provider, model, basis: 'unknown' };
  const isOwn = [`${provider}/${model}`, `${provider}/*`].some((name) => Object.hasOwn(declared ?? {}, name));
  return { provider, model, rates, basis: isOwn ? 'configured' : 'list' };
}
