import { canonicalJson, toJson } from '../base/json.ts';
import type { Limits, ModelRef } from '../domain/agent.ts';
import type { Grant, GrantedTool } from '../domain/grant.ts';
import type { DeclaredAgent } from './effective.ts';

/** What an edit of a bundle does to one agent, one difference at a time. */
export interface BundleChange {
  /**
   * `widens`: the agent may do something that it might not before. `narrows`: the other way round. `rewrites`: prompts
   * begin with something else. `free`: nothing of these.
   */
  readonly kind: 'widens' | 'narrows' | 'rewrites' | 'free';
  readonly what: string;
}

/** All differences between two declarations of one agent, permissions first. Pure. */
export function bundleChanges(before: DeclaredAgent, after: DeclaredAgent): readonly BundleChange[] {
  const changes = [
    ...toolChanges(before.grant, after.grant),
    ...skillChanges(before.grant, after.grant),
    ...modelChanges(before, after),
    ...limitChanges(before.frame.limits, after.frame.limits),
    ...textChanges(before, after),
    ...otherChanges(before, after),
  ];
  return changes.sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
}

const ORDER = ['widens', 'narrows', 'rewrites', 'free'] as const;

const widens = (what: string): BundleChange => ({ kind: 'widens', what });
const narrows = (what: string): BundleChange => ({ kind: 'narrows', what });
const rewrites = (what: string): BundleChange => ({ kind: 'rewrites', what });
const free = (what: string): BundleChange => ({ kind: 'free', what });

function toolChanges(before: Grant, after: Grant): readonly BundleChange[] {
  const keyOf = ({ definition, own, kind = 'tools' }: GrantedTool): string => `${kind}/${definition.group}/${own}`;
  const [old, now] = [before, after].map(({ tools }) => new Map(tools.map((tool) => [keyOf(tool), tool])));
  if (old === undefined || now === undefined) return [];
  const changes: BundleChange[] = [];
  for (const [key, tool] of now) {
    const known = old.get(key);
    if (known === undefined) changes.push(widens(`the tool ${named(tool)} is granted`), ...moves(tool, 'joins'));
    else changes.push(...oneTool(known, tool));
  }
  for (const [key, tool] of old) {
    if (!now.has(key))
      changes.push(narrows(`the tool ${named(tool)} is not granted any more`), ...moves(tool, 'leaves'));
  }
  return changes;
}

function oneTool(before: GrantedTool, after: GrantedTool): readonly BundleChange[] {
  const [old, now] = [before.definition, after.definition];
  const changes: BundleChange[] = [];
  const asks = (tool: GrantedTool): boolean => tool.definition.approval === 'ask';
  if (asks(before) && !asks(after)) changes.push(widens(`${now.name} runs without asking a person`));
  if (!asks(before) && asks(after)) changes.push(narrows(`${now.name} asks a person`));
  if (old.effect !== now.effect) {
    const what = `${now.name} is ${now.effect} and not ${old.effect}`;
    // A tool that may be repeated by itself may do more than one that may not.
    changes.push(REPEATS[now.effect] > REPEATS[old.effect] ? widens(what) : narrows(what));
  }
  const [had, has] = [before, after].map(({ needs }) =>
    needs === undefined ? '' : `${needs.provider}: ${needs.claims.join(', ')}`,
  );
  if (had !== has) {
    if (has === '') changes.push(widens(`${now.name} needs no connected account any more`));
    else if (had === '') changes.push(narrows(`${now.name} needs ${has}`));
    else
      changes.push(
        lacks(after, before)
          ? widens(`${now.name} needs ${has} and not ${had}`)
          : narrows(`${now.name} needs ${has} and not ${had}`),
      );
  }
  if (before.locked !== after.locked) {
    changes.push(
      after.locked
        ? widens(`users cannot switch ${now.name} off any more`)
        : narrows(`users can switch ${now.name} off`),
    );
  }
  if (old.timeoutMs !== now.timeoutMs) changes.push(free(`${now.name} may take ${now.timeoutMs ?? 'the usual'} ms`));
  if (old.name !== now.name) changes.push(rewrites(`${old.name} is called ${now.name}`));
  if (old.deferred !== now.deferred)
    changes.push(
      rewrites(`${now.name} ${now.deferred === true ? 'is found by a search' : 'stands in the prompt'} now`),
    );
  const another = old.deferred === true && now.deferred === true ? free : rewrites;
  if (old.description !== now.description) changes.push(another(`the description of ${now.name} is another`));
  if (canonicalJson(old.inputSchema) !== canonicalJson(now.inputSchema))
    changes.push(another(`the arguments of ${now.name} are others`));
  return changes;
}

function moves({ definition: { name, deferred } }: GrantedTool, how: 'joins' | 'leaves'): readonly BundleChange[] {
  return [deferred === true ? free(`${name} ${how} what a search finds`) : rewrites(`${name} ${how} the tools`)];
}

const REPEATS = { read: 2, idempotent: 1, once: 0 } as const;

/** Whether the first needs less of the same account. */
function lacks({ needs: less }: GrantedTool, { needs: more }: GrantedTool): boolean {
  return (
    less?.provider === more?.provider && less?.claims.every((claim) => more?.claims.includes(claim) === true) === true
  );
}

function named({ definition: { name, group, approval, effect } }: GrantedTool): string {
  const traits = [group, ...(effect === 'read' ? [] : [effect]), ...(approval === 'ask' ? ['asks a person'] : [])];
  return `${name} (${traits.join(', ')})`;
}

function skillChanges({ skills: before = [] }: Grant, { skills: after = [] }: Grant): readonly BundleChange[] {
  const has = (list: typeof before, id: string): boolean => list.some((skill) => skill.id === id);
  return [
    ...after.filter(({ id }) => !has(before, id)).map(({ id }) => widens(`the skill ${id} is granted`)),
    ...before.filter(({ id }) => !has(after, id)).map(({ id }) => narrows(`the skill ${id} is not granted any more`)),
  ];
}

function modelChanges(before: DeclaredAgent, after: DeclaredAgent): readonly BundleChange[] {
  const name = ({ provider, model }: ModelRef): string => `${provider}/${model}`;
  const [old, now] = [before, after].map(({ grant }) => grant.models.map(name));
  const changes: BundleChange[] = [];
  const [was = '', is = ''] = [old?.[0], now?.[0]];
  if (was !== is) changes.push(rewrites(`the model is ${is} and not ${was}`));
  else if (old?.join() !== now?.join())
    changes.push(free(`where ${is} cannot answer, ${now?.slice(1).join(', then ') || 'nobody'} does`));
  const [picks, offers] = [before, after].map(({ grant }) => grant.supportedModels.map(({ ref }) => name(ref)));
  for (const one of offers ?? []) if (picks?.includes(one) !== true) changes.push(widens(`users may pick ${one}`));
  for (const one of picks ?? [])
    if (offers?.includes(one) !== true) changes.push(narrows(`users may not pick ${one} any more`));
  return changes;
}

/** More of these is more that the agent may spend or do. */
const BOUNDS: readonly (keyof Limits)[] = [
  'maxIterations',
  'maxActions',
  'maxConcurrent',
  'maxFaults',
  'maxAttempts',
  'maxRepeats',
  'toolTimeoutMs',
];

function limitChanges(before: Limits, after: Limits): readonly BundleChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Limits)[]; // keys of limits
  return keys.flatMap((key): BundleChange[] => {
    const [old, now] = [before[key], after[key]];
    if (old === now) return [];
    const what = `${spelled(key)} is ${now ?? 'not set'} and not ${old ?? 'not set'}`;
    if (!BOUNDS.includes(key) || old === undefined || now === undefined) return [free(what)];
    // No loop guard at all is more than any.
    const isMore = key === 'maxRepeats' ? (now === 0 ? old !== 0 : old !== 0 && now > old) : now > old;
    return [isMore ? widens(what) : narrows(what)];
  });
}

function spelled(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function textChanges({ frame: before }: DeclaredAgent, { frame: after }: DeclaredAgent): readonly BundleChange[] {
  return [
    ...(before.systemPrompt === after.systemPrompt ? [] : [rewrites('the system prompt is another')]),
    ...(before.additional === after.additional ? [] : [rewrites('the additional instructions are others')]),
    ...(before.grammar === after.grammar
      ? []
      : [rewrites(`decisions are told in ${after.grammar} and not ${before.grammar}`)]),
  ];
}

function otherChanges(
  { frame: before, role: had }: DeclaredAgent,
  { frame: after, role: has }: DeclaredAgent,
): readonly BundleChange[] {
  const differs = (
    key: 'aside' | 'toolChoice' | 'onLimit' | 'planning' | 'renderThinking' | 'cacheTtl' | 'keepListed',
  ): boolean => canonicalJson(toJson(before[key] ?? null)) !== canonicalJson(toJson(after[key] ?? null));
  return [
    ...(had === has ? [] : [free(`the role that decides is ${has} and not ${had}`)]),
    ...(differs('aside') ? [free('older turns are summarised by another model')] : []),
    ...(differs('toolChoice') ? [free('tool_choice is another')] : []),
    ...(differs('onLimit') ? [free(`on_limit is ${after.onLimit} and not ${before.onLimit}`)] : []),
    ...(differs('planning')
      ? [
          after.planning?.approval === before.planning?.approval
            ? free('planning is another')
            : planApproval(before, after),
        ]
      : []),
    ...(differs('renderThinking') ? [free(`render_thinking is ${String(after.renderThinking)}`)] : []),
    ...(differs('cacheTtl')
      ? [free(`the cache is asked to keep prompts for the ${after.cacheTtl ?? 'short'} time`)]
      : []),
    ...(differs('keepListed')
      ? [
          free(
            after.keepListed === true
              ? 'what users switch off stays listed'
              : 'what users switch off leaves the prompt',
          ),
        ]
      : []),
  ];
}

function planApproval(before: DeclaredAgent['frame'], after: DeclaredAgent['frame']): BundleChange {
  const asks = { never: 0, auto: 1, always: 2 } as const;
  const [old, now] = [before.planning?.approval ?? 'never', after.planning?.approval ?? 'never'];
  const what = `a person agrees to plans: ${now} and not ${old}`;
  return asks[now] < asks[old] ? widens(what) : narrows(what);
}
