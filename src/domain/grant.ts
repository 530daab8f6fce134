import type { ModelRef } from './agent.ts';
import type { GroupKind } from './selection.ts';
import type { ToolDefinition } from './tool.ts';

/** Rights in a connected account. */
export interface Claim {
  readonly provider: string;
  readonly claims: readonly string[];
}

/** One tool that the operator allows an agent. */
export interface GrantedTool {
  /** What the model sees. Its `group` is the alias that selections name. */
  readonly definition: ToolDefinition;
  /** The tool's name within its group, which selections name. */
  readonly own: string;
  /** The part of a selection that names it; `tools` when absent. */
  readonly kind?: GroupKind | undefined;
  /** Belongs to a system group: users cannot switch it off. */
  readonly locked: boolean;
  /** Inactive while the user's accounts do not have these. */
  readonly needs?: Claim | undefined;
}

/** A tool of the grant that nobody has for now, such as one of a group that this version does not bring. */
export interface UnavailableTool {
  readonly name: string;
  readonly group: string;
  readonly own: string;
  readonly kind?: GroupKind | undefined;
  readonly why: string;
  /** The connected account that would bring it. */
  readonly account?: string | undefined;
}

/** A skill that the operator allows an agent. */
export interface GrantedSkill {
  /** What selections name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly digest: string;
  /** Names of tools, as the model sees them, without which the skill is hidden. */
  readonly requires: readonly string[];
}

/** A service that the operator allows an agent at least in part. */
export interface GrantedService {
  /** What selections name: the group of its tools. */
  readonly namespace: string;
  readonly label: string;
  readonly description: string;
}

/** A group whose entries are not all known, such as a server that has not been listed: any name may be one. */
export interface OpenGroup {
  readonly kind: GroupKind;
  readonly group: string;
}

/** A model that users may pick. */
export interface PickableModel {
  readonly ref: ModelRef;
  readonly label: string;
}

/** All that an operator allows an agent: the inventory that a user narrows. */
export interface Grant {
  /** In the order of the names that the model sees. */
  readonly tools: readonly GrantedTool[];
  readonly unavailable: readonly UnavailableTool[];
  /** In the order of their ids. None when absent. */
  readonly skills?: readonly GrantedSkill[] | undefined;
  /** In the order of their namespaces. None when absent. */
  readonly services?: readonly GrantedService[] | undefined;
  readonly open?: readonly OpenGroup[] | undefined;
  readonly supportedModels: readonly PickableModel[];
  /** The chain of the decision role when the user picked nothing. Never empty. */
  readonly models: readonly ModelRef[];
}
