import { isAside, type AsidePurpose } from '../../domain/aside.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import type { AllowanceOffer } from '../../domain/allowance.ts';
import { emptyConversation, type Conversation } from '../../domain/conversation.ts';
import type { Draft, Fact, FactOf, FactPayload } from '../../domain/event.ts';
import { apply } from '../../domain/fold.ts';
import type { Observation } from '../../domain/tool.ts';
import { emptySelection, type Selection } from '../../domain/selection.ts';
import { Stimuli } from './stimuli.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { ToolReturn } from '../../kernel/running-tool.ts';

/** A model call as the log has it, and what came of it: nothing, where the process stopped before. */
export interface RecordedCall {
  readonly request: FactOf<'llm.request'>;
  readonly response: FactOf<'llm.response'> | undefined;
  readonly thoughts: readonly FactPayload<'thinking.step'>[];
  /** Which of the decisions of the run it is, from 1, attempts counted; absent for an aside. */
  readonly n: number | undefined;
}

/** What the log knows of an action besides that it was asked for. */
export interface RecordedAction {
  readonly begun: FactPayload<'tool.invoke'> | undefined;
  /** Questions that the tool asked a person, in the order asked. */
  readonly asked: readonly FactPayload<'hitl.requested'>[];
  readonly waits: { readonly payload: FactPayload<'computation.started'>; readonly at: number } | undefined;
  readonly child: FactPayload<'subagent.started'> | undefined;
  readonly result: { readonly observation: Observation; readonly seq: number } | undefined;
  readonly skill: FactPayload<'skill.loaded'> | undefined;
  readonly loads: readonly string[] | undefined;
  /** Gates that wanted a person's yes. */
  readonly heldBy: readonly string[];
  /** What a person was offered beyond a yes to it. */
  readonly offer: AllowanceOffer | undefined;
  /** Where the log has what a run of it left, by what that was. */
  readonly places: Partial<Record<ToolReturn['kind'], number>>;
}

/** What assembly had said when a turn began. */
export interface RecordedTurn {
  readonly start: FactOf<'agent.turn.start'>;
  readonly agent: EffectiveAgent | undefined;
  readonly digest: string;
  /** Facts of assembly itself: the selection, accounts, tools of servers that are others. */
  readonly facts: readonly Draft[];
  readonly selection: Selection;
  /** It could not be assembled, and ended at once. */
  readonly failed: FactPayload<'agent.turn.end'>['error'];
  readonly output: string | undefined;
  readonly plan: Served<'plan.result'> | undefined;
  readonly compactions: readonly Served<'memory.compacted'>[];
}

/** What a plugin had answered, and how many questions to a model it took. */
export interface Served<T extends 'plan.result' | 'memory.compacted'> {
  readonly payload: FactPayload<T>;
  readonly questions: number;
}

/** A run's log taken apart into what a replay answers with. */
export interface Recording {
  readonly facts: readonly Fact[];
  /** By `callKey`. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** Answers to asides by turn and purpose, in the order made. */
  readonly asides: ReadonlyMap<string, readonly RecordedCall[]>;
  readonly actions: ReadonlyMap<string, RecordedAction>;
  /** By the id of the turn. */
  readonly turns: ReadonlyMap<string, RecordedTurn>;
  /** What people, other runs and outside work said, and when. */
  readonly stimuli: Stimuli;
  /** What the log comes to. */
  readonly end: Conversation;
}

export function callKey({ turnId = '', iteration = 0, payload }: FactOf<'llm.request'>): string {
  return `${turnId}/${iteration}/${payload.attempt}`;
}

export function asideKey(turnId: string | undefined, purpose: AsidePurpose): string {
  return `${turnId ?? ''}/${purpose}`;
}

type Draftable<T> = { -readonly [K in keyof T]: T[K] };

/** What the loop states itself: with the first of these, assembly has said what it had to say. */
const OF_THE_LOOP =
  /^(agent|cancel|computation|gate|hitl|io|limits|llm|memory\.c|plan|subagent|thinking|tool\.(invoke|result))/;

/** Takes a log apart. `own`: plugins that will state again what they had stated. */
export function recordingOf(
  meta: ConversationMeta,
  facts: readonly Fact[],
  own: (source: string) => boolean,
): Recording {
  const calls = new Map<string, Draftable<RecordedCall>>();
  const asides = new Map<string, Draftable<RecordedCall>[]>();
  const actions = new Map<string, Draftable<RecordedAction>>();
  const turns = new Map<string, Draftable<RecordedTurn>>();
  let conversation = emptyConversation(meta.id, meta.agentPath);
  let call: Draftable<RecordedCall> | undefined;
  let thoughts: FactPayload<'thinking.step'>[] = [];
  let selection = emptySelection;
  let n = 0;
  let questions = 0;
  const actionOf = (id: string): Draftable<RecordedAction> => {
    let action = actions.get(id);
    if (action === undefined)
      actions.set(
        id,
        (action = {
          begun: undefined,
          asked: [],
          waits: undefined,
          child: undefined,
          result: undefined,
          skill: undefined,
          loads: undefined,
          heldBy: [],
          offer: undefined,
          places: {},
        }),
      );
    return action;
  };
  for (const fact of facts) {
    const turn = turns.get(fact.turnId ?? '');
    switch (fact.type) {
      case 'agent.turn.start':
        if (fact.payload.resumed === true || turn !== undefined) break;
        turns.set(fact.turnId ?? '', {
          start: fact,
          agent: fact.payload.agent ?? conversation.agent,
          digest: fact.payload.digest,
          facts: [],
          selection,
          failed: undefined,
          output: undefined,
          plan: undefined,
          compactions: [],
        });
        break;
      case 'llm.request': {
        const { purpose } = fact.payload;
        call = { request: fact, response: undefined, thoughts: [], n: isAside(purpose) ? undefined : ++n };
        thoughts = [];
        if (isAside(purpose)) {
          if (fact.payload.attempt === 1) questions++;
          const key = asideKey(fact.turnId, purpose);
          asides.set(key, [...(asides.get(key) ?? []), call]);
        } else calls.set(callKey(fact), call);
        break;
      }
      case 'thinking.step':
        thoughts.push(fact.payload);
        break;
      case 'llm.response':
        if (call === undefined) break;
        call.response = fact;
        call.thoughts = thoughts;
        call = undefined;
        break;
      case 'tool.invoke':
        actionOf(fact.payload.action).begun = fact.payload;
        break;
      case 'tool.result': {
        const { action, ...observation } = fact.payload;
        const known = actionOf(action);
        known.result ??= { observation, seq: fact.seq };
        known.places.recorded ??= fact.seq;
        break;
      }
      case 'skill.loaded':
      case 'tool.loaded': {
        const before = facts.slice(0, fact.seq - 1).findLast(({ type }) => type !== 'skill.loaded');
        if (before?.type !== 'tool.result') break;
        const action = actionOf(before.payload.action);
        if (fact.type === 'skill.loaded') action.skill = fact.payload;
        else action.loads = fact.payload.tools;
        break;
      }
      case 'gate.verdict':
        if (fact.payload.action !== undefined && fact.payload.verdict === 'hold') {
          const action = actionOf(fact.payload.action);
          action.heldBy = [...new Set([...action.heldBy, fact.payload.gate])];
        }
        break;
      case 'hitl.requested':
        if (fact.payload.action !== undefined) actionOf(fact.payload.action).offer ??= fact.payload.allowance;
        if (fact.payload.kind === 'input' && fact.payload.action !== undefined) {
          const action = actionOf(fact.payload.action);
          action.asked = [...action.asked, fact.payload];
          action.places.ask ??= fact.seq;
        }
        break;
      case 'computation.started':
        actionOf(fact.payload.action).waits = { payload: fact.payload, at: fact.at };
        actionOf(fact.payload.action).places.wait = fact.seq;
        break;
      case 'subagent.started':
        if (fact.payload.action !== undefined) {
          actionOf(fact.payload.action).child = fact.payload;
          actionOf(fact.payload.action).places.delegate = fact.seq;
        }
        break;
      case 'io.output':
        if (turn !== undefined) turn.output = fact.payload.text;
        break;
      case 'plan.result':
        if (turn !== undefined) turn.plan ??= { payload: fact.payload, questions };
        questions = 0;
        break;
      case 'memory.compacted':
        if (turn !== undefined) turn.compactions = [...turn.compactions, { payload: fact.payload, questions }];
        questions = 0;
        break;
      case 'agent.turn.end':
        if (turn !== undefined && facts[fact.seq - 2] === turn.start && fact.payload.stop === 'error')
          turn.failed = fact.payload.error;
        break;
      default:
        // They stand together, right after the beginning of the turn.
        if (turn === undefined || OF_THE_LOOP.test(fact.type) || fact.seq !== turn.start.seq + turn.facts.length + 1)
          break;
        turn.facts = [...turn.facts, { type: fact.type, payload: fact.payload } as Draft]; // of the fact that pairs them
        if (fact.type === 'selection.applied') turn.selection = selection = fact.payload.selection ?? selection;
    }
    conversation = apply(conversation, fact);
  }
  const stimuli = new Stimuli(meta, facts, own);
  return { facts, calls, asides, actions, turns, stimuli, end: conversation };
}
