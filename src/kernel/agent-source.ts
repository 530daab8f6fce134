import type { MaybePromise } from '../base/promise.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { Draft } from '../domain/event.ts';
import type { ConversationMeta } from './log.ts';
import type { Toolset } from './running-tool.ts';

/** What assembly says when a turn begins. */
export interface Assembled {
  readonly agent: EffectiveAgent;
  /** SHA-256 of the agent's canonical JSON. */
  readonly digest: string;
  /** Facts that assembly wants on record, such as `selection.ignored`. */
  readonly facts: readonly Draft[];
}

/** Where a turn's agent and tools come from. */
export interface AgentSource {
  /**
   * The effective agent for a turn that begins now, in the conversation as its log has it. Throws when the bundle no
   * longer has the agent.
   */
  assemble(meta: ConversationMeta, conversation: Conversation): MaybePromise<Assembled>;
  /** The hands of an agent's tools. A tool that no longer exists is absent. */
  tools(agent: EffectiveAgent): Toolset;
}
