import { isObject } from '../../base/json.ts';
import type { Frame } from '../../assembly/frame.ts';
import { resolveRole, roleNames, roleTables, decisionRole } from '../../assembly/roles.ts';
import { behaviourLevels, resolve, type Path } from '../../assembly/resolve.ts';
import { shippedRoles } from '../../domain/declared-model.ts';
import type { ActivePlugin } from '../bundle/active-plugins.ts';
import type { Declared } from '../bundle/declare.ts';
import { canCompact, SUMMARISING } from '../bundle/memory-limits.ts';
import { didYouMean, oneOf, type Notices, type Problems } from '../bundle/problems.ts';

/** Who summarises where nobody is named. */
const USUAL_ROLE = 'quick';
const MEMORY = 'memory.compaction'; // the usual one, for hints

/** The role and models for asides of one agent, where a plugin asks for some and they are not those of its decisions. */
export function asideOf(
  { bundle, place }: Pick<Declared, 'bundle' | 'place'>,
  agent: string,
  plugins: readonly ActivePlugin[],
  problems: Problems,
): Frame['aside'] {
  const memory = plugins.find(({ id }) => SUMMARISING.has(id));
  if (memory === undefined) return undefined;
  const tables = roleTables(bundle, agent, shippedRoles);
  const named = isObject(memory.config) ? memory.config['role'] : undefined;
  const role = typeof named === 'string' ? named : USUAL_ROLE;
  if (role === decisionRole(bundle, agent).value) return undefined;
  const from: Path = ['plugins', memory.id, 'role'];
  const found = resolveRole(tables, role, from);
  if (found.ok) return { role, models: [...found.models] };
  if (typeof named === 'string' && found.problem === 'unknown' && found.name === named) {
    const names = roleNames(tables);
    const hint = didYouMean(named, names);
    problems.add('bundle_unknown_name', {
      place: place(from),
      found: `no role ${JSON.stringify(named)}`,
      wanted: hint === undefined ? oneOf(names) : undefined,
      hint,
    });
  }
  return undefined; // a circle of roles is told where the roles are checked
}

/** A threshold that nobody acts upon would be a promise. */
export function checkMemory(
  { bundle, place }: Pick<Declared, 'bundle' | 'place'>,
  agent: string,
  plugins: readonly ActivePlugin[],
  problems: Problems,
  notices: Notices,
): void {
  if (canCompact(plugins)) return;
  const levels = behaviourLevels(bundle, agent);
  const capped = resolve(levels, 'context_max_tokens');
  if (capped !== undefined) {
    const text = `no memory plugin is active: a turn whose prompt reaches ${capped.value} tokens ends with context_full; add ${MEMORY} to plugins.active to have older turns summarised instead`;
    notices.add(place(capped.from), text);
  }
  const found = resolve(levels, 'context_cold_tokens');
  if (found === undefined) return;
  problems.add('bundle_conflict', {
    place: place(found.from),
    found: 'compaction without a memory plugin',
    wanted: 'an active memory plugin',
    hint: `add ${MEMORY} to plugins.active, or remove this`,
  });
}
