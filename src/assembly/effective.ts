import type { EffectiveAgent, ModelRef } from '../domain/agent.ts';
import { cacheProfile } from '../domain/cache-profile.ts';
import type { Grant, GrantedTool } from '../domain/grant.ts';
import type { Selection } from '../domain/selection.ts';
import { promptTools, TOOL_USE, TOOLBOX_GROUP } from '../domain/deferred.ts';
import { DEFAULT_GALLERY_CHARS, SKILLS_GROUP } from '../domain/skill.ts';
import { applyClaims, type HeldClaims, type UnmetTool } from './claims.ts';
import type { Frame } from './frame.ts';
import { instructions, joined } from './instructions.ts';
import { gallery, type Gallery } from './gallery.ts';
import { narrow, type Narrowed } from './narrow.ts';
import { roster } from './roster.ts';

/** What the operator says of one agent, all of it. */
export interface DeclaredAgent {
  readonly bundle: string;
  readonly revision: string;
  readonly frame: Frame;
  readonly grant: Grant;
  /** The role whose model decides. */
  readonly role: string;
}

export interface Effective {
  readonly agent: EffectiveAgent;
  /** The tools that only an account keeps away. */
  readonly unmet: readonly UnmetTool[];
}

/** The effective agent: grant − selection − unmet claims. Pure and total. */
export function effectiveAgentOf(declared: DeclaredAgent, selection: Selection, held: HeldClaims): Effective {
  const { bundle, revision, frame, grant, role } = declared;
  const { systemPrompt, additional, keepListed, skillsRoom: _, asksForClaims, ...behaviour } = frame;
  const all = withSkills(declarable(narrow(grant, selection), frame), frame.skillsRoom);
  const deferral = deferralOf(grant, frame, all.models);
  const narrowed = { ...all, tools: withToolbox(all.tools, frame, deferral) };
  const applied = applyClaims(narrowed.tools, held);
  // Where the user is asked at the attempt, nothing is out before.
  const { tools, unmet } = asksForClaims === true ? { tools: narrowed.tools, unmet: [] } : applied;
  // What an account has today must not reach the cached text, so what only an account keeps away stays listed.
  const kept = staysListed(frame, narrowed.models, deferral) ? listable(grant.tools, narrowed) : narrowed.tools;
  // What is not in the prompt costs nothing when it goes, and no search may find it.
  const listed = deferral === undefined ? kept : kept.filter((tool) => !isDeferred(tool) || tools.includes(tool));
  const inactive = [...narrowed.inactive, ...unmet.map(({ name, why }) => ({ name, why }))];
  const unknown = grant.unavailable.flatMap(({ name, why, account }) =>
    account === undefined ? [] : [{ name, why, account }],
  );
  const accounts = byAccount([...applied.unmet, ...unknown]);
  // Apart from the instructions: these lists are others when the user changes them.
  const lists = joined([narrowed.gallery.text, roster(narrowed.services)]);
  const agent: EffectiveAgent = {
    bundle,
    revision,
    ...behaviour,
    instructions: instructions({
      grammar: frame.grammar,
      systemPrompt,
      additional,
      tools: promptTools(definitions(listed)),
    }),
    ...(lists === '' ? {} : { gallery: lists }),
    tools: definitions(tools),
    ...(listed.length === tools.length ? {} : { listed: definitions(listed) }),
    ...(deferral === undefined ? {} : { deferral }),
    inactive: inactive.sort((left, right) => (left.name < right.name ? -1 : 1)),
    ...(accounts.length === 0 ? {} : { unmet: accounts }),
    ...(narrowed.skills.length === 0
      ? {}
      : { skills: narrowed.skills.map(({ id, description, digest }) => ({ id, description, digest })) }),
    ...(narrowed.hidden.length === 0 ? {} : { hiddenSkills: [...narrowed.hidden] }),
    role,
    models: [...narrowed.models],
  };
  return { agent, unmet: [...unmet, ...unknown] };
}

function byAccount(unmet: readonly UnmetTool[]): NonNullable<EffectiveAgent['unmet']> {
  const accounts = [...new Set(unmet.map(({ account }) => account))].sort();
  return accounts.map((account) => ({
    account,
    tools: unmet.filter((one) => one.account === account).map(({ name }) => name),
  }));
}

/** A decision that is written as JSON leaves a provider nothing to do by itself. */
function declarable(narrowed: Narrowed, { grammar }: Frame): Narrowed {
  const isOut = ({ definition }: GrantedTool): boolean => grammar === 'json' && definition.native !== undefined;
  const out = narrowed.tools.filter(isOut);
  if (out.length === 0) return narrowed;
  const why = 'needs decision: native';
  return {
    ...narrowed,
    tools: narrowed.tools.filter((tool) => !isOut(tool)),
    inactive: [...narrowed.inactive, ...out.map(({ definition }) => ({ name: definition.name, why }))],
  };
}

interface WithSkills extends Narrowed {
  readonly gallery: Gallery;
}

/** The tools that read skills are there with the first skill, and the one that searches with the first that is not listed. */
function withSkills(narrowed: Narrowed, room = DEFAULT_GALLERY_CHARS): WithSkills {
  const listed = gallery(narrowed.skills, room);
  const isOut = ({ definition, own }: GrantedTool): boolean =>
    definition.group === SKILLS_GROUP && (narrowed.skills.length === 0 || (own === 'skills_search' && !listed.isCut));
  const tools = narrowed.tools.some(isOut) ? narrowed.tools.filter((tool) => !isOut(tool)) : narrowed.tools;
  return { ...narrowed, tools, gallery: listed };
}

/** How deferred tools are found: by the provider where every model of the chain can, else by tools of ours. */
function deferralOf({ tools }: Grant, { grammar }: Frame, models: readonly ModelRef[]): EffectiveAgent['deferral'] {
  if (!tools.some(isDeferred)) return undefined;
  return grammar === 'native' && models.every((model) => cacheProfile(model).searches) ? 'provider' : 'own';
}

/** The tools that find others: while the operator defers any, whatever the user switched off, so that nothing moves then. */
function withToolbox(
  tools: readonly GrantedTool[],
  { grammar }: Frame,
  deferral: EffectiveAgent['deferral'],
): readonly GrantedTool[] {
  if (deferral === undefined) return tools;
  const isOut = ({ definition, own }: GrantedTool): boolean =>
    definition.group === TOOLBOX_GROUP && (deferral === 'provider' || (grammar === 'json' && own === TOOL_USE));
  return tools.filter((tool) => !isOut(tool));
}

function isDeferred({ definition }: GrantedTool): boolean {
  return definition.deferred === true;
}

/** What may stay in the prompt although it is out: not what reads skills that nobody has, nor what is done without asking. */
function listable(granted: readonly GrantedTool[], { tools }: Narrowed): readonly GrantedTool[] {
  const isOurs = ({ definition: { group, native } }: GrantedTool): boolean =>
    group === SKILLS_GROUP || group === TOOLBOX_GROUP || native !== undefined;
  return granted.filter((tool) => !isOurs(tool) || tools.includes(tool));
}

/**
 * Whether a tool that a user switched off stays in the prompt: where the operator says so, and where the provider can be
 * told which of the listed tools may be called.
 */
function staysListed(
  { keepListed, grammar }: Frame,
  models: readonly ModelRef[],
  deferral: EffectiveAgent['deferral'],
): boolean {
  const [first] = models;
  if (keepListed === true) return true;
  // Names that may be called would have to hold what the provider's search finds, which it does not take.
  if (deferral === 'provider') return false;
  return grammar === 'native' && first !== undefined && cacheProfile(first).masks;
}

function definitions(tools: readonly GrantedTool[]): EffectiveAgent['tools'] {
  return tools.map(({ definition }) => definition);
}
