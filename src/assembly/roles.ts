import type { ModelRef } from '../domain/agent.ts';
import type { Bundle } from '../domain/bundle.ts';
import type { DeclaredModel, Roles, RoleValue } from '../domain/declared-model.ts';
import { behaviourLevels, resolve, type Path, type Placed } from './resolve.ts';

/** Role tables of one agent, the one that wins first. */
export type RoleTables = readonly Placed<Roles>[];

export type ResolvedRole =
  | { readonly ok: true; readonly models: readonly ModelRef[]; readonly from: Path }
  /** No table has the role, or its names come back to themselves or lead to too many models. `from` is where. */
  | { readonly ok: false; readonly problem: 'unknown' | 'cycle' | 'long'; readonly name: string; readonly from: Path };

/** Roles that name roles in chains multiply: nobody means more models than this. */
export const LONGEST_CHAIN = 20;

/** The agent's `role_models` over the app's over `models` over the models that come with Treadle. */
export function roleTables(bundle: Bundle, agent: string, shipped: Roles): RoleTables {
  const levels = behaviourLevels(bundle, agent);
  const tables: RoleTables = levels.flatMap(({ block, from }) => table(block.role_models, [...from, 'role_models']));
  return [
    ...tables,
    ...table(bundle.config?.role_models, ['config', 'role_models']),
    ...table(bundle.models, ['models']),
    ...(bundle.models === undefined ? table(shipped, []) : []),
  ];
}

/** The role whose model decides, and where that is said: `model_role`, else `models.default`, else `balanced`. */
export function decisionRole(bundle: Bundle, agent: string): Placed<string> {
  const said = resolve(behaviourLevels(bundle, agent), 'model_role');
  if (said !== undefined) return said;
  const { default: fallback } = bundle.models ?? {};
  if (typeof fallback === 'string') return { value: fallback, from: ['models', 'default'] };
  return { value: fallback === undefined ? 'balanced' : 'default', from: ['models', 'default'] };
}

/** The chain of models that a role stands for. Names of other roles are followed, also inside a chain. */
export function resolveRole(tables: RoleTables, role: string, from: Path): ResolvedRole {
  return follow(tables, role, from, []);
}

/** Every role that any table names. */
export function roleNames(tables: RoleTables): readonly string[] {
  return [...new Set(tables.flatMap(({ value }) => Object.keys(value)))];
}

function follow(tables: RoleTables, role: string, from: Path, trail: readonly string[]): ResolvedRole {
  const start = trail.indexOf(role);
  if (start >= 0) return { ok: false, problem: 'cycle', name: [...trail.slice(start), role].join(' → '), from };
  const found = tables.find(({ value }) => Object.hasOwn(value, role));
  const value = found?.value[role];
  if (found === undefined || value === undefined) return { ok: false, problem: 'unknown', name: role, from };
  const place = [...found.from, role];
  const models: ModelRef[] = [];
  for (const { item, at } of links(value, place)) {
    if (typeof item !== 'string') {
      models.push(modelOf(item));
      continue;
    }
    const rest = follow(tables, item, at, [...trail, role]);
    if (!rest.ok) return rest;
    models.push(...rest.models);
    if (models.length > LONGEST_CHAIN) return { ok: false, problem: 'long', name: role, from };
  }
  return { ok: true, models, from: place };
}

function links(value: RoleValue, place: Path): readonly { item: string | DeclaredModel; at: Path }[] {
  if (!Array.isArray(value)) return [{ item: value, at: place }];
  return value.map((item, index) => ({ item, at: [...place, index] }));
}

function table(value: Roles | undefined, from: Path): RoleTables {
  return value === undefined ? [] : [{ value, from }];
}

/** What a bundle calls a model, as everything else knows it. `options` is what only the provider's adapter reads. */
export function modelOf(declared: DeclaredModel): ModelRef {
  const { provider, model = provider, max_tokens, temperature, effort, context_window } = declared;
  const { base_url, api_key_env, script, options } = declared;
  const rest = {
    ...options,
    ...(base_url === undefined ? {} : { baseUrl: base_url }),
    ...(api_key_env === undefined ? {} : { apiKeyEnv: api_key_env }),
    ...(script === undefined ? {} : { script }),
  };
  return {
    provider,
    model,
    ...(max_tokens === undefined ? {} : { maxTokens: max_tokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(effort === undefined ? {} : { effort }),
    ...(context_window === undefined ? {} : { contextWindow: context_window }),
    ...(Object.keys(rest).length === 0 ? {} : { options: rest }),
  };
}
