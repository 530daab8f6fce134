import type { ModelRef } from './agent.ts';
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
  readonly kind?: 'tools' | 'mcp' | undefined;
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
  readonly why: string;
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
  readonly supportedModels: readonly PickableModel[];
  /** The chain of the decision role when the user picked nothing. Never empty. */
  readonly models: readonly ModelRef[];
}
