import {
  behaviourLevels,
  consumer,
  inventoryLevels,
  isShared,
  nexusBlocks,
  PROMPT_KEYS,
  resolve,
  type Path,
} from '../../assembly/resolve.ts';
import { decisionRole, LONGEST_CHAIN, modelOf, resolveRole, roleNames, roleTables } from '../../assembly/roles.ts';
import { asksForPlan } from '../../assembly/frame.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { Behaviour } from '../../domain/behaviour.ts';
import type { Bundle } from '../../domain/bundle.ts';
import { shippedRoles } from '../../domain/declared-model.ts';
import type { Grant } from '../../domain/grant.ts';
import { providersOf } from '../accounts/account-providers.ts';
import type { Declared } from './declare.ts';
import { didYouMean, oneOf, type Notices, type Problems } from './problems.ts';

/** Adds what contradicts itself, or names an agent that is not there, to `problems`. */
export function checkStructure(
  { bundle, place, quoted }: Declared,
  agents: readonly string[],
  problems: Problems,
): void {
  if (bundle.surfaces !== undefined && bundle.config?.surfaces !== undefined) {
    const found = `surfaces a second time, first at ${place(['config', 'surfaces'])}`;
    problems.add('bundle_conflict', { place: place(['surfaces']), found, wanted: 'one of the two' });
  }
  const { block, from } = consumer(bundle);
  const unknownAgent = (path: Path, name: string, hint?: string): void => {
    const known = agents.filter((agent) => agent !== name);
    const near = didYouMean(name, known);
    const wanted = near === undefined ? oneOf(known) : undefined;
    problems.add('bundle_unknown_name', {
      place: place(path),
      found: `no agent ${quoted(path, name)}`,
      wanted,
      hint: near ?? hint,
    });
  };
  if (block?.default_agent !== undefined && !agents.includes(block.default_agent)) {
    unknownAgent([...from, 'default_agent'], block.default_agent);
  }
  // Where the inventory names agents, it names all of them: a slip in the other root would make an agent without tools.
  const granted = Object.keys(block?.agents ?? {}).filter((id) => !isShared(id));
  for (const id of Object.keys(bundle.config?.react ?? {})) {
    if (granted.length === 0 || isShared(id) || granted.includes(id)) continue;
    const path: Path = ['config', 'react', id];
    const near = didYouMean(id, granted);
    problems.add('bundle_unknown_name', {
      place: place(path),
      found: `no agent ${quoted(path, id)} in surfaces.as_consumer.agents`,
      wanted: near === undefined ? oneOf(granted) : undefined,
      hint: near ?? `add ${id}: {} there if it needs no tools`,
    });
  }
  for (const agent of agents) {
    for (const level of behaviourLevels(bundle, agent)) checkPrompt(level.block, level.from);
  }
  checkNexus();

  function checkPrompt(level: Behaviour, at: Path): void {
    const used = PROMPT_KEYS.filter((key) => level[key] !== undefined);
    if (used.length < 2) return;
    problems.add('bundle_conflict', {
      place: place([...at, used[1] ?? '']),
      found: used.join(' and '),
      wanted: 'one of them: they are ways to write the same',
    });
  }

  /** One key of the shared level, written in both manners: neither is nearer than the other. */
  function checkNexus(): void {
    const shared = bundle.config?.react?.['default_agent'];
    const written: { block: Behaviour; from: Path }[] = [
      ...(shared === undefined ? [] : [{ block: shared, from: ['config', 'react', 'default_agent'] }]),
      ...nexusBlocks(bundle),
    ];
    const seen = new Map<string, Path>();
    for (const { block: keys, from: at } of written) {
      for (const key of Object.keys(keys)) {
        const first = seen.get(key);
        if (first === undefined) seen.set(key, [...at, key]);
        else {
          const found = `${key} a second time, first at ${place(first)}`;
          problems.add('bundle_conflict', { place: place([...at, key]), found, wanted: 'one of the two' });
        }
      }
    }
  }
}

/** Says which tools wait for an account that nobody can connect here. */
export function checkAccounts(bundle: Bundle, { tools }: Grant, file: string, notices: Notices): void {
  const accounts = providersOf(bundle);
  for (const { definition, needs } of tools) {
    if (needs === undefined || Object.hasOwn(accounts, needs.provider)) continue;
    const { provider } = needs;
    notices.add(
      file,
      `${definition.name} needs the account ${provider}, which accounts does not declare: it is inactive`,
    );
  }
}

/** The decision role of an agent and its models. Every role that the agent could use is followed to its end. */
export function checkRoles(
  { bundle, place, quoted }: Declared,
  agent: string,
  problems: Problems,
  notices: Notices,
): { readonly role: string; readonly models: readonly ModelRef[] } {
  const tables = roleTables(bundle, agent, shippedRoles);
  const names = roleNames(tables);
  const circles = new Set<string>();
  const models = (role: string, from: Path): readonly ModelRef[] => {
    const found = resolveRole(tables, role, from);
    if (found.ok) return found.models;
    switch (found.problem) {
      case 'unknown': {
        const hint = didYouMean(found.name, names);
        const wanted = hint === undefined ? oneOf(names) : undefined;
        const what = `no role ${quoted(found.from, found.name)}`;
        problems.add('bundle_unknown_name', { place: place(found.from), found: what, wanted, hint });
        break;
      }
      case 'cycle': {
        // Each of its roles would tell the same circle again.
        const members = [...new Set(found.name.split(' → '))].sort().join();
        if (circles.has(members)) break;
        circles.add(members);
        problems.add('bundle_conflict', {
          place: place(found.from),
          found: `a circle of roles, ${found.name}`,
          wanted: 'a model at its end',
        });
        break;
      }
      case 'long': {
        const wanted = `at most ${LONGEST_CHAIN}`;
        problems.add('bundle_invalid', {
          place: place(found.from),
          found: `a longer chain of models for ${found.name}`,
          wanted,
        });
        break;
      }
    }
    return [];
  };
  for (const { value, from } of tables) for (const role of Object.keys(value)) models(role, [...from, role]);
  const { value: role, from } = decisionRole(bundle, agent);
  const supported = resolve(behaviourLevels(bundle, agent), 'supported_models');
  const isLeftOpen =
    bundle.models === undefined && !tables.slice(0, -1).some(({ value }) => Object.hasOwn(value, role));
  const [first] = supported?.value ?? [];
  if (!isLeftOpen || first === undefined) return { role, models: models(role, from) };
  notices.add(place(supported?.from ?? []), `no model is declared for ${role}: the first of supported_models is used`);
  const { label: _, ...declared } = first;
  return { role, models: [modelOf(declared)] };
}

/** What only a Nexus configuration may leave open, because its own pages print it so: told, and not refused. */
function isNexus(from: Path): boolean {
  return from.includes('nexus.agent.react') || from.includes('agent.react');
}

export function checkPlanning(
  { bundle, place }: Declared,
  agent: string,
  hasPlanner: boolean,
  problems: Problems,
  notices: Notices,
): void {
  const found = resolve(behaviourLevels(bundle, agent), 'planning');
  if (found === undefined || !asksForPlan(found.value) || hasPlanner) return;
  if (isNexus(found.from)) {
    notices.add(place(found.from), 'planning needs a planner plugin, none is active: planning is off');
    return;
  }
  problems.add('bundle_conflict', {
    place: place(found.from),
    found: 'planning without a planner plugin',
    wanted: 'an active planner',
    hint: 'add planner.static to plugins.active, or write planning: false',
  });
}

/** A tool that a model call must use has to be one that the agent has. */
export function checkToolChoice(
  { bundle, place, quoted }: Declared,
  agent: string,
  { tools, unavailable }: Grant,
  problems: Problems,
  notices: Notices,
): void {
  const found = resolve(behaviourLevels(bundle, agent), 'tool_choice');
  if (found === undefined) return;
  const known = tools.map(({ definition }) => definition.name);
  const servers = (resolve(inventoryLevels(bundle, agent), 'tools')?.value ?? []).filter(({ kind }) => kind === 'mcp');
  for (const { name, path } of namedIn(found.value, found.from)) {
    if (known.includes(name)) continue;
    // What a server has is known when a turn begins; if it has not, the model is free.
    if (servers.some((one) => name.startsWith(`${one.alias ?? one.name}_`))) continue;
    if (isNexus(found.from) || unavailable.some((one) => one.name === name)) {
      notices.add(
        place(path),
        `tool_choice names ${quoted(path, name)}, which ${agent} does not have: the model is free instead`,
      );
      continue;
    }
    const hint = didYouMean(name, known);
    const wanted = hint === undefined ? oneOf(known) : undefined;
    problems.add('bundle_unknown_name', { place: place(path), found: `no tool ${quoted(path, name)}`, wanted, hint });
  }
}

function namedIn(
  choice: NonNullable<Behaviour['tool_choice']>,
  from: Path,
): readonly { readonly name: string; readonly path: Path }[] {
  if (typeof choice === 'string') return [];
  if ('sequence' in choice) {
    return choice.sequence.flatMap((one, index) => namedIn(one, [...from, 'sequence', index]));
  }
  return choice.name === undefined ? [] : [{ name: choice.name, path: [...from, 'name'] }];
}
