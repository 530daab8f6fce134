import { toJson, type Json } from '../base/json.ts';
import { behaviour } from '../domain/behaviour.ts';
import { behaviourLevels, inventoryLevels, resolve } from '../assembly/resolve.ts';
import type { DeclaredAgent } from '../assembly/effective.ts';
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
  const names = grant.tools.map(({ definition }) => `${definition.name} (${definition.group})`);
  rows.push({ key: 'tools', value: names, from: tools === undefined ? 'default' : place(tools.from) });
  const skills = resolve(inventoryLevels(bundle, frame.id), 'skills');
  const ids = (grant.skills ?? []).map(({ id }) => id);
  rows.push({ key: 'skills', value: ids, from: skills === undefined ? 'default' : place(skills.from) });
  rows.push({ key: 'decision role', value: role, from: 'model_role, models.default or balanced' });
  const models = grant.models.map(({ provider, model }) => `${provider}/${model}`);
  rows.push({ key: 'models', value: models, from: `the role ${role}` });
  return rows;
}
