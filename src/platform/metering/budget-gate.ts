import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { ModelRef } from '../../domain/agent.ts';
import { isAside } from '../../domain/aside.ts';
import type { Conversation, Turn } from '../../domain/conversation.ts';
import { searchIn } from '../../domain/provider-search.ts';
import type { Measure, Reservation, Reserved } from '../../kernel/ledger.ts';
import { definePlugin, type Plugin } from '../../kernel/plugin.ts';
import { deny, revise, type Deny, type Questions, type Verdict } from '../../kernel/verdict.ts';
import type { Ceiling } from '../../plugins/gates/token-budget.ts';
import type { PriceList } from '../../adapters/prices/price-list.ts';
import { capsOf, type Budgets, type HeldCap } from './budgets.ts';
import { capsOfCeilings } from './ceilings.ts';
import { promptTokens } from './estimate.ts';
import type { LimitsReader } from './limits-reader.ts';
import { callId, type Meter } from './meter.ts';
import type { Payer } from './run-tree.ts';

export interface BudgetGateOptions {
  readonly meter: Meter;
  readonly prices: PriceList;
  readonly limits: LimitsReader;
  readonly budgets?: Budgets | undefined;
  readonly ceilings?: readonly Ceiling[] | undefined;
  /** This process, among those that share the ledger. */
  readonly owner: string;
}

type Question = Questions['before:llm.request'];
type Refusal = Extract<Reserved, { ok: false }>;

/** What was set aside by a process that died is let go after this at the latest. */
const HELD_MS = 60 * 60_000;
/** An action is begun right after it was allowed, or not at all. */
const ACTION_HELD_MS = 60_000;
/** After every other gate: nothing is set aside for what another one refuses. */
const LAST = 1_000;
/** Output tokens of a model of which nobody says how much it may answer. */
const USUAL_OUTPUT = 32_000;
/** An answer of fewer tokens is not worth its prompt. */
const LEAST_OUTPUT = 1_024;

/**
 * Sets aside what a model call may cost at the most before it is made, under every budget that it comes under, and refuses it
 * where that does not fit. A call that would fit with a shorter answer is made with a shorter one.
 */
export function budgetGate({
  meter,
  prices,
  limits,
  budgets = {},
  ceilings = [],
  owner,
}: BudgetGateOptions): Plugin<object> {
  const { ledger, tree } = meter;

  function judgeCall(
    clock: Clock,
    question: Question,
    conversation: Conversation,
  ): MaybePromise<Verdict<Question> | undefined> {
    const found = standing(conversation.id, conversation, clock);
    const { turn } = conversation;
    const judge = ({ payer, caps }: Standing): MaybePromise<Verdict<Question> | undefined> => {
      if (payer === undefined || caps.length === 0 || turn === undefined) return undefined;
      return reserveCall(clock, question, conversation, turn, caps);
    };
    return isPromise(found) ? found.then(judge) : judge(found);
  }

  interface Standing {
    readonly payer: Payer | undefined;
    readonly caps: readonly HeldCap[];
  }

  function standing(id: string, conversation: Conversation, clock: Clock): MaybePromise<Standing> {
    const found = tree.payer(id);
    const withPayer = (payer: Payer | undefined): MaybePromise<Standing> => {
      if (payer === undefined) return { payer, caps: [] };
      const read = limits.read(payer, conversation);
      const withLimits = (limitsOf: Parameters<typeof capsOf>[1]): Standing => ({
        payer,
        caps: [...capsOf(payer, limitsOf, budgets, clock.now()), ...capsOfCeilings(payer, ceilings, clock.now())],
      });
      return isPromise(read) ? read.then(withLimits) : withLimits(read);
    };
    return isPromise(found) ? found.then(withPayer) : withPayer(found);
  }

  function reserveCall(
    clock: Clock,
    question: Question,
    conversation: Conversation,
    turn: Turn,
    caps: readonly HeldCap[],
  ): MaybePromise<Verdict<Question> | undefined> {
    const { request, iteration, attempt, purpose } = question;
    const { model } = request;
    const now = clock.now();
    const input = promptTokens(request, conversation.contextTokens);
    const searches = searchIn(request)?.maxUses;
    const most = model.maxTokens ?? prices.maxOutput(model) ?? USUAL_OUTPUT;
    const id = callId(turn.id, iteration, attempt, isAside(purpose) ? purpose : undefined);
    const priced = prices.worstCost(model, { input, output: most, searches }, now) !== undefined;
    const inMoney = caps.find(({ money }) => money !== undefined);
    if (inMoney !== undefined && !priced) return unpriced(inMoney, model);

    const reserve = (output: number): MaybePromise<Reserved> => {
      const reservation: Reservation = {
        id: `${conversation.id}/${id}`,
        conversationId: conversation.id,
        owner,
        until: now + HELD_MS,
        calls: 1,
        actions: 0,
        tokens: input + output,
        money: prices.worstCost(model, { input, output, searches }, now) ?? '0',
        caps,
      };
      const reserved = ledger.reserve(reservation);
      const told = (given: Reserved): Reserved => {
        const guess = { tokens: input, money: prices.worstCost(model, { input, output: 0, searches }, now) };
        if (given.ok) meter.expect(conversation.id, { id, guess });
        return given;
      };
      return isPromise(reserved) ? reserved.then(told) : told(reserved);
    };

    /** Once the earlier calls of this conversation are counted, there may be room after all, or for a shorter answer. */
    const later = async (first: Refusal): Promise<Verdict<Question> | undefined> => {
      let refused = first;
      const counted = meter.counted(conversation.id, id);
      if (counted !== undefined) {
        await counted;
        const again = await reserve(most);
        if (again.ok) return undefined;
        refused = again;
      }
      for (let output = largest(refused, model, { input, searches }, most, now); output !== undefined;) {
        const given = await reserve(output);
        if (given.ok) return shortened(question, output);
        refused = given;
        output = largest(refused, model, { input, searches }, output - 1, now);
      }
      return refusal(refused, caps, {
        tokens: input + LEAST_OUTPUT,
        money: prices.worstCost(model, { input, output: LEAST_OUTPUT, searches }, now),
      });
    };
    const told = (given: Reserved): MaybePromise<Verdict<Question> | undefined> =>
      given.ok ? undefined : later(given);
    const reserved = reserve(most);
    return isPromise(reserved) ? reserved.then(told) : told(reserved);
  }

  /** The longest answer that fits into what is left, in powers of two: so there are few different requests. */
  function largest(
    { measure, left }: Refusal,
    model: ModelRef,
    { input, searches }: { readonly input: number; readonly searches: number | undefined },
    below: number,
    now: number,
  ): number | undefined {
    if (measure !== 'tokens' && measure !== 'money') return undefined;
    for (let output = 2 ** Math.floor(Math.log2(Math.max(1, below))); output >= LEAST_OUTPUT; output /= 2) {
      const cost = prices.worstCost(model, { input, output, searches }, now);
      const fitsTokens = left.tokens === undefined || input + output <= left.tokens;
      const fitsMoney = left.money === undefined || (cost !== undefined && Number(cost) <= Number(left.money));
      if (fitsTokens && fitsMoney) return output;
    }
    return undefined;
  }

  function judgeAction(clock: Clock, action: string, conversation: Conversation): MaybePromise<Deny | undefined> {
    const found = standing(conversation.id, conversation, clock);
    const judge = ({ caps: all }: Standing): MaybePromise<Deny | undefined> => {
      const caps = all.filter(({ actions }) => actions !== undefined);
      if (caps.length === 0) return undefined;
      const reserved = ledger.reserve({
        id: `${conversation.id}/${action}`,
        conversationId: conversation.id,
        owner,
        until: clock.now() + ACTION_HELD_MS,
        ...{ calls: 0, actions: 1, tokens: 0, money: '0', caps },
      });
      const told = (given: Reserved): Deny | undefined => (given.ok ? undefined : refusal(given, caps, {}));
      return isPromise(reserved) ? reserved.then(told) : told(reserved);
    };
    return isPromise(found) ? found.then(judge) : judge(found);
  }

  return definePlugin({
    id: 'gate.budget',
    about: 'Refuses a model call or an action that a budget of the run, its user or its tenant has no room for.',
    config: z.strictObject({}),
    setup({ clock, before }) {
      before('before:llm.request', (question, { conversation }) => judgeCall(clock, question, conversation), {
        priority: LAST,
      });
      before('before:tool.invoke', ({ action }, { conversation }) => judgeAction(clock, action, conversation), {
        priority: LAST,
      });
    },
  });
}

function shortened(question: Question, output: number): Verdict<Question> {
  const { request } = question;
  return revise(
    { ...question, request: { ...request, model: { ...request.model, maxTokens: output } } },
    `at most ${output} tokens of output fit into what is left of a budget`,
  );
}

const UNITS: Readonly<Record<Measure, string>> = {
  calls: ' model calls',
  actions: ' actions',
  tokens: ' tokens',
  money: ' USD',
};

function refusal(
  { account, period, measure, cap, spent, reserved }: Refusal,
  caps: readonly HeldCap[],
  wanted: { readonly tokens?: number | undefined; readonly money?: string | undefined },
): Deny {
  const holder = caps.find((one) => one.account === account && one.period === period)?.holder ?? 'run';
  const unit = UNITS[measure];
  const whose = period === '' ? `the ${holder}'s budget` : `the ${holder}'s budget of ${period}`;
  const held = reserved === '0' ? '' : `, ${reserved} set aside for what is under way`;
  const needs = measure === 'tokens' || measure === 'money' ? wanted[measure] : undefined;
  const next = needs === undefined ? '' : `; the next call may need ${needs}`;
  return deny(`${whose} is ${cap}${unit}: ${spent} spent${held}${next}`, codeOf(holder, measure));
}

function unpriced({ holder }: HeldCap, { provider, model }: ModelRef): Deny {
  return deny(
    `the ${holder} has a budget in money and the price of ${provider}/${model} is not known; declare it under prices`,
    'price_unknown',
  );
}

/** `max_tokens` of the run itself, `user_max_tokens`, `tenant_max_money`. */
function codeOf(holder: HeldCap['holder'], measure: Measure): string {
  return holder === 'run' ? `max_${measure}` : `${holder}_max_${measure}`;
}
