import type { Claim } from '../../domain/grant.ts';
import type { Traits } from '../../domain/inventory.ts';
import type { GroupKind } from '../../domain/selection.ts';
import type { CompiledTool } from './catalog.ts';

/** One tool that an entry of an inventory allows, before it has the name that the model sees. */
export interface Member {
  readonly kind: GroupKind;
  /** What selections call its group. */
  readonly alias: string;
  /** What selections call it. */
  readonly own: string;
  readonly locked: boolean;
  readonly traits: Traits;
  /** What the entry says of all its tools. */
  readonly defer?: boolean | undefined;
  readonly needs: Claim | undefined;
  /** Undefined: the entry names it and nobody has it. */
  readonly tool: CompiledTool | undefined;
  readonly why: string;
  /** The connected account that would bring it. */
  readonly account?: string | undefined;
}
