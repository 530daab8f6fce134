import { toJson, type Json } from '../../base/json.ts';
import { behaviour } from '../../domain/behaviour.ts';
import { behaviourLevels, inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import { decisionRole, resolveRole, roleTables } from '../../assembly/roles.ts';
import { shippedRoles } from '../../domain/declared-model.ts';
import type { GrantedTool } from '../../domain/grant.ts';
import type { DeclaredAgent } from '../../assembly/effective.ts';
import type { Declared } from './declare.ts';

/** A setting of one agent. `from` is `file:line:column  path`, or `default` where no level sets it; without a value, it says what applies. */
export interface Explained {
  readonly key: string;
  readonly value: Json;
  readonly from: string;
}

/** Every setting of an agent, with the place it comes from. Variables stand by their names, so that no secret is printed. */
export function explain(
  { bundle, place, asWritten }: Declared,
  { frame, grant, role }: DeclaredAgent,
): readonly Explained[] {
  const levels = behaviourLevels(bundle, frame.id);
  const rows: Explained[] = [];
  for (const [key, schema] of Object.entries(behaviour.shape)) {
    const meta = schema.meta() ?? {};
    if (meta['later'] === true) continue;
    const found = resolve(levels, key as keyof typeof behaviour.shape); // a key of the shape
    if (found !== undefined) {
      rows.push({ key, value: asWritten(found.from, toJson(found.value)), from: place(found.from) });
    } else {
      const { fallback, otherwise } = meta;
      if (fallback !== undefined) rows.push({ key, value: toJson(fallback), from: 'default' });
      else if (typeof otherwise === 'string') rows.push({ key, value: null, from: `default: ${otherwise}` });
    }
  }
  const tools = resolve(inventoryLevels(bundle, frame.id), 'tools');
  if (tools === undefined) rows.push({ key: 'tools', value: [], from: 'default: none' });
  for (const [index, { name, alias = name }] of (tools?.value ?? []).entries()) {
    const names = grant.tools.filter(({ definition }) => definition.group === alias).map(inWords);
    const missing = grant.unavailable.filter(({ group }) => group === alias).map((one) => `${one.name}: ${one.why}`);
    const value = missing.length === 0 ? names : [...names, ...missing];
    rows.push({ key: `tools ${alias}`, value, from: place([...(tools?.from ?? []), index]) });
  }
  const skills = resolve(inventoryLevels(bundle, frame.id), 'skills');
  const ids = (grant.skills ?? []).map(({ id }) => id);
  rows.push({ key: 'skills', value: ids, from: skills === undefined ? 'default' : place(skills.from) });
  const decided = decisionRole(bundle, frame.id);
  const saidAt = has(bundle, decided.from) ? place(decided.from) : 'default';
  rows.push({ key: 'decision role', value: role, from: saidAt });
  const resolved = resolveRole(roleTables(bundle, frame.id, shippedRoles), role, decided.from);
  const models = grant.models.map(({ provider, model }) => `${provider}/${model}`);
  const at = resolved.ok && has(bundle, resolved.from) ? place(resolved.from) : `the role ${role}`;
  rows.push({ key: 'models', value: models, from: at });
  if (frame.aside !== undefined) {
    const asked = frame.aside.models.map(({ provider, model }) => `${provider}/${model}`);
    rows.push({ key: 'models of summaries', value: asked, from: `the role ${frame.aside.role}` });
  }
  return rows;
}

/** A tool with what is not plain reading about it. */
function inWords({ definition: { name, effect, approval, deferred }, needs, locked }: GrantedTool): string {
  const traits = [
    ...(approval === 'ask' ? ['asks a person'] : []),
    ...(effect === 'read' ? [] : [effect]),
    ...(needs === undefined ? [] : [`needs ${needs.provider}: ${needs.claims.join(', ')}`]),
    ...(locked ? ['always on'] : []),
    ...(deferred === true ? ['found by a search'] : []),
  ];
  return traits.length === 0 ? name : `${name} (${traits.join('; ')})`;
}

/** Whether the bundle has something at a path; what is shipped has no place in it. */
function has(bundle: object, path: Path): boolean {
  let here: unknown = bundle;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return false;
    here = Reflect.get(here, key);
  }
  return path.length > 0;
}
