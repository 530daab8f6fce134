import type { InactiveTool, ModelRef } from '../domain/agent.ts';
import type { Grant, GrantedService, GrantedSkill, GrantedTool } from '../domain/grant.ts';
import type { Selection } from '../domain/selection.ts';

/** A grant less what its user switched off. */
export interface Narrowed {
  readonly tools: readonly GrantedTool[];
  /** What was taken away, and why, for announce. */
  readonly inactive: readonly InactiveTool[];
  readonly skills: readonly GrantedSkill[];
  /** Skills of the grant that are out, and why. */
  readonly hidden: readonly InactiveTool[];
  /** Services that have a tool left: the others are nowhere. */
  readonly services: readonly GrantedService[];
  readonly models: readonly ModelRef[];
  /** True when the user's pick decides the model. */
  readonly picked: boolean;
}

export const SWITCHED_OFF = 'switched off by the user';

/**
 * Narrow a grant by one user's selection: effective = configured − disabled.
 *
 * Pure and total. The tools are a part of the grant's, in its order; system groups stay whatever the record says. A pick
 * that is not supported, and a name that nothing has, change nothing. An empty selection gives the grant's own lists.
 */
export function narrow(grant: Grant, selection: Selection): Narrowed {
  const denied = grant.tools.filter((tool) => isDenied(tool, selection));
  const hidden = (grant.skills ?? NO_SKILLS).flatMap((skill) => hiding(skill, grant, denied, selection) ?? []);
  const pick = picked(grant, selection);
  const unavailable = grant.unavailable.map(({ name, why }) => ({ name, why }));
  const tools = denied.length === 0 ? grant.tools : grant.tools.filter((tool) => !denied.includes(tool));
  return {
    tools,
    inactive: [...unavailable, ...denied.map(({ definition }) => ({ name: definition.name, why: SWITCHED_OFF }))],
    skills:
      hidden.length === 0
        ? (grant.skills ?? NO_SKILLS)
        : (grant.skills ?? NO_SKILLS).filter(({ id }) => !hidden.some(({ name }) => name === id)),
    hidden,
    services: servicesOf(grant, tools),
    models: pick === undefined ? grant.models : [pick],
    picked: pick !== undefined,
  };
}

const NO_SKILLS: readonly GrantedSkill[] = [];
const NO_SERVICES: readonly GrantedService[] = [];

function servicesOf({ services = NO_SERVICES }: Grant, tools: readonly GrantedTool[]): readonly GrantedService[] {
  if (services.length === 0) return services;
  const left = new Set(tools.filter(({ kind }) => kind === 'named_services').map(({ definition }) => definition.group));
  return services.filter(({ namespace }) => left.has(namespace));
}

function isDenied({ definition, own, kind = 'tools', locked }: GrantedTool, { disabled }: Selection): boolean {
  if (locked) return false;
  const part = disabled[kind];
  // A server is known by its own name too, whatever the bundle calls the group.
  return [definition.group, definition.remote?.server].some((group) => {
    const entry = group !== undefined && Object.hasOwn(part, group) ? part[group] : undefined;
    return entry === true || (entry?.includes(own) ?? false);
  });
}

/** A skill that would ask for a tool which nobody has would only mislead. */
function hiding(
  { id, requires }: GrantedSkill,
  { tools, unavailable }: Grant,
  denied: readonly GrantedTool[],
  { disabled }: Selection,
): InactiveTool | undefined {
  if (disabled.skills.includes(id)) return { name: id, why: SWITCHED_OFF };
  for (const name of requires) {
    if (denied.some(({ definition }) => definition.name === name))
      return { name: id, why: `needs ${name}, ${SWITCHED_OFF}` };
    if (tools.some(({ definition }) => definition.name === name)) continue;
    const why = unavailable.find((one) => one.name === name)?.why;
    return { name: id, why: `needs ${name}, ${why ?? 'which the agent does not have'}` };
  }
  return undefined;
}

/** Picked by provider and model alone: everything else about a model is the operator's. */
function picked({ supportedModels }: Grant, { model }: Selection): ModelRef | undefined {
  if (model === undefined) return undefined;
  return supportedModels.find(({ ref }) => ref.provider === model.provider && ref.model === model.model)?.ref;
}
