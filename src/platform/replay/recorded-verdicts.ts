import type { Json } from '../../base/json.ts';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import { isAside } from '../../domain/aside.ts';
import { emptyConversation, nextIteration, type Conversation } from '../../domain/conversation.ts';
import type { Fact, FactPayload } from '../../domain/event.ts';
import { apply } from '../../domain/fold.ts';
import type { Bus } from '../../kernel/bus.ts';
import { toolDigest } from '../../domain/tool.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { StoredAllowance } from '../../kernel/choices.ts';
import type { LoopPorts } from '../../loop/work.ts';
import { callKey, type Recording } from './recording.ts';
import {
  deny,
  hold,
  revise,
  type Questions,
  type QuestionType,
  type Remember,
  type Verdict,
} from '../../kernel/verdict.ts';

type Given = FactPayload<'gate.verdict'>;

/** What the gates said each time a question was asked, by what it was asked about. */
interface Asked {
  readonly times: (readonly Given[])[];
  at: number;
  /** The conversation as it was when this was last asked: gates that are shown a revision are asked within the same asking. */
  head: number;
}

/** What gates had made of it, as far as the log tells. */
interface Revised {
  readonly calls: ReadonlyMap<string, FactPayload<'llm.request'>>;
  readonly arguments: ReadonlyMap<string, FactPayload<'tool.invoke'>['arguments']>;
  readonly outputs: ReadonlyMap<string, string>;
  /** Milliseconds that an action was held for, by action. */
  readonly expiries: ReadonlyMap<string, number>;
}

const LATE = 1_000;

/** Gates that say again what the log says they said, in place of those that said it: all, or some of them. */
export function recordedGates(
  bus: Bus,
  meta: ConversationMeta,
  { facts, actions }: Recording,
  stands: (gate: string) => boolean = () => true,
): void {
  const { askings, revised, gates: all } = verdictsOf(meta, facts);
  const gates = all.filter(stands);
  const said = new Map<string, readonly Given[]>();

  /** The verdicts of this asking: looked up by the first gate that is asked, and shared by the others. */
  function verdicts(key: string, head: number): readonly Given[] {
    const asked = askings.get(key);
    if (asked !== undefined && asked.head !== head) {
      const now = asked.times[Math.min(asked.at++, asked.times.length - 1)] ?? [];
      asked.head = head;
      // Who held an action holds it each time that it is asked about; the log says so once.
      const before = (said.get(key) ?? []).filter((one) => one.verdict === 'hold');
      said.set(key, [...before.filter((one) => now.every((other) => other.gate !== one.gate)), ...now]);
    }
    return said.get(key) ?? [];
  }

  function judge<Q extends QuestionType>(
    question: Q,
    keyOf: (payload: Questions[Q], conversation: Conversation) => string,
    change: (payload: Questions[Q], conversation: Conversation) => Questions[Q] | undefined,
  ): void {
    for (const [index, gate] of gates.entries())
      bus.before(
        question,
        (payload, { conversation }): Verdict<Questions[Q]> | undefined => {
          const key = keyOf(payload, conversation);
          const given = verdicts(key, conversation.head).filter((one) => one.gate === gate);
          const last = given.at(-1);
          if (last === undefined) return undefined;
          const reason = last.reason ?? '';
          if (last.verdict === 'deny') return deny(reason, last.code);
          if (last.verdict === 'hold') {
            const expiresInMs = revised.expiries.get(last.action ?? '');
            const remember = rememberedBy(gate, last.action ?? '', actions, conversation);
            return hold(reason, {
              ...(expiresInMs !== undefined && { expiresInMs }),
              ...(remember !== undefined && { remember }),
            });
          }
          const changed = change(payload, conversation);
          return changed === undefined ? undefined : revise(changed, last.reason);
        },
        { source: gate, priority: LATE + index },
      );
  }

  judge(
    'before:llm.request',
    ({ iteration, attempt, purpose }, { turn }) =>
      isAside(purpose) ? '' : `call ${turn?.id ?? ''}/${iteration}/${attempt}`,
    (payload, { turn }) => {
      const known = revised.calls.get(`${turn?.id ?? ''}/${payload.iteration}/${payload.attempt}`);
      if (known === undefined) return undefined;
      const { allowed, notes = [] } = known;
      return { ...payload, notes, request: allowed === undefined ? payload.request : { ...payload.request, allowed } };
    },
  );
  judge(
    'before:tool.invoke',
    ({ action }) => `before:tool.invoke ${action}`,
    (payload) => {
      const args = revised.arguments.get(payload.action);
      return args === undefined ? undefined : { ...payload, arguments: args };
    },
  );
  judge(
    'before:tool.result',
    ({ action }) => `before:tool.result ${action}`,
    () => undefined, // the log has what they made of it, and that is what the tool gives
  );
  judge(
    'before:hitl.requested',
    ({ action = '' }) => `before:hitl.requested ${action}`,
    () => undefined,
  );
  judge(
    'before:io.output',
    (_, { turn }) => `output ${turn?.id ?? ''}`,
    (payload, { turn }) => {
      const text = revised.outputs.get(turn?.id ?? '');
      return text === undefined ? undefined : { ...payload, text };
    },
  );
}

/** What a yes was about: as a request offered it, or as whoever had said yes before had meant it. */
function rememberedBy(
  gate: string,
  action: string,
  actions: Recording['actions'],
  { allowances }: Conversation,
): Remember | undefined {
  const { offer, begun } = actions.get(action) ?? {};
  const cover = offer?.covers.find((one) => one.gate === gate);
  if (offer !== undefined) return cover && { scopes: offer.scopes, subject: cover.subject, about: offer.about };
  if (begun?.allowedBy === undefined) return undefined;
  const said = allowances.find(({ id }) => begun.allowedBy?.includes(id) === true);
  const subject = said?.covers.find((one) => one.gate === gate)?.subject ?? subjectOf(action);
  return { scopes: STANDING_SCOPES, subject, about: said?.about ?? '' };
}

function subjectOf(action: string): Json {
  return { replayed: action };
}

/** What a user had allowed for always, as far as actions of the run went by it. */
export function allowancesOfRecord({ actions, turns }: Recording): NonNullable<LoopPorts['allowances']> {
  const agents = [...turns.values()].flatMap(({ agent }) => (agent === undefined ? [] : [agent]));
  const stored: StoredAllowance[] = [];
  for (const [action, { begun, heldBy }] of actions)
    for (const [index, id] of (begun?.allowedBy ?? []).entries())
      for (const { id: agent, bundle, tools } of agents) {
        const tool = tools.find(({ name }) => name === begun?.name);
        if (tool === undefined) continue;
        const gates = begun?.allowedBy?.length === 1 ? heldBy : heldBy.slice(index, index + 1);
        const covers = gates.map((gate) => ({ gate, subject: subjectOf(action) }));
        const said = { id, scope: 'always', tool: tool.name, described: toolDigest(tool), covers, about: '' } as const;
        stored.push({ ...said, by: '', at: 0, agent, bundle, conversation: '' });
      }
  return { allowancesOf: () => stored };
}

interface Verdicts {
  readonly askings: ReadonlyMap<string, Asked>;
  readonly revised: Revised;
  readonly gates: readonly string[];
}

function verdictsOf(meta: ConversationMeta, facts: readonly Fact[]): Verdicts {
  const askings = new Map<string, Asked>();
  const calls = new Map<string, FactPayload<'llm.request'>>();
  const args = new Map<string, FactPayload<'tool.invoke'>['arguments']>();
  const outputs = new Map<string, string>();
  const expiries = new Map<string, number>();
  const gates: string[] = [];
  let conversation = emptyConversation(meta.id, meta.agentPath);
  let open: { readonly key: string; readonly given: Given[]; readonly seq: number } | undefined;
  for (const fact of facts) {
    if (fact.type === 'gate.verdict' && !isAside(fact.payload.purpose)) {
      const given = fact.payload;
      const { turn } = conversation;
      if (!gates.includes(given.gate)) gates.push(given.gate);
      const attempt =
        turn?.current !== undefined && turn.current.response === undefined ? turn.current.attempts.length + 1 : 1;
      const key =
        given.question === 'before:llm.request'
          ? `call ${turn?.id ?? ''}/${turn === undefined ? 0 : nextIteration(turn)}/${attempt}`
          : given.question === 'before:io.output'
            ? `output ${turn?.id ?? ''}`
            : `${given.question} ${given.action ?? ''}`;
      if (given.code !== 'gate_held') {
        if (open?.key === key && open.seq === fact.seq - 1) open = { ...open, seq: fact.seq };
        else {
          open = { key, given: [], seq: fact.seq };
          let asked = askings.get(key);
          if (asked === undefined) askings.set(key, (asked = { times: [], at: 0, head: -1 }));
          asked.times.push(open.given);
        }
        open.given.push(given);
      }
    }
    if (fact.type === 'llm.request' && !isAside(fact.payload.purpose)) {
      const key = callKey(fact);
      calls.set(key, fact.payload);
      // Asked again, nobody objected.
      if (open?.seq !== fact.seq - 1) askings.get(`call ${key}`)?.times.push([]);
    }
    if (fact.type === 'hitl.requested' && fact.payload.kind === 'action') {
      const { action = '', arguments: shown, deadline } = fact.payload;
      if (shown !== undefined) args.set(action, shown);
      if (deadline !== undefined) expiries.set(action, deadline - fact.at);
    }
    if (fact.type === 'tool.invoke') args.set(fact.payload.action, fact.payload.arguments);
    if (fact.type === 'io.output') outputs.set(fact.turnId ?? '', fact.payload.text);
    conversation = apply(conversation, fact);
  }
  return { askings, revised: { calls, arguments: args, outputs, expiries }, gates };
}
