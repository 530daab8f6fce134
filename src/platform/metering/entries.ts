import type { EventOf, Fact, FactOf } from '../../domain/event.ts';
import type { ModelFailure } from '../../domain/model.ts';
import { inputTokens, outputTokens } from '../../domain/usage-sum.ts';
import type { Usage } from '../../domain/usage.ts';
import type { LedgerEntry } from '../../kernel/ledger.ts';
import type { PriceList } from '../../adapters/prices/price-list.ts';

/** What a call is charged of which nobody reported anything: what was set aside for its prompt. */
export interface Guess {
  readonly tokens: number;
  readonly money: string | undefined;
}

/** Facts of one conversation, in order, made into entries of the ledger. */
export class EntryMaker {
  #request: FactOf<'llm.request'> | undefined;

  /** A call was begun and is not over. */
  get isOpen(): boolean {
    return this.#request !== undefined;
  }

  /** The entry of a fact, if it costs anything. */
  entry(fact: Fact, prices: PriceList, guess?: Guess): LedgerEntry | undefined {
    switch (fact.type) {
      case 'llm.request':
        this.#request = fact;
        return undefined;
      case 'llm.response':
        return this.#call(fact, prices, guess);
      case 'tool.invoke':
        return { seq: fact.seq, at: fact.at, charge: { tokens: 0 } };
      default:
        return undefined;
    }
  }

  #call(
    { seq, at, payload }: EventOf<'llm.response'>,
    prices: PriceList,
    guess: Guess | undefined,
  ): LedgerEntry | undefined {
    const model = this.#request?.payload.model;
    this.#request = undefined;
    if (model === undefined) return undefined; // a response to nothing: a log that nobody here has written
    const { usage, failure, content } = payload;
    const failed = failure !== undefined;
    if (isReported(usage)) {
      const cost = prices.cost(model, usage, at);
      const charge = { tokens: inputTokens(usage) + outputTokens(usage), money: cost };
      return { seq, at, call: { ...model, usage, cost, failed }, charge };
    }
    if (failure !== undefined && content.length === 0 && isUnbilled(failure)) {
      return { seq, at, call: { ...model, usage, cost: '0', failed }, charge: { tokens: 0 } };
    }
    // A model that costs nothing costs nothing also when it does not count.
    const cost = prices.cost(model, { input: 1_000_000, output: 1_000_000 }, at) === '0' ? '0' : undefined;
    return { seq, at, call: { ...model, usage, cost, failed }, charge: guess ?? { tokens: 0 } };
  }
}

function isReported(usage: Usage): boolean {
  return Object.values(usage).some((tokens) => tokens !== undefined);
}

/** Refused before the model began: no provider sends a bill for that. */
const UNBILLED: ReadonlySet<ModelFailure['class']> = new Set([
  'auth',
  'bad_request',
  'not_found',
  'context_length',
  'rate_limit',
  'overloaded',
  'server',
  'network',
]);

function isUnbilled(failure: ModelFailure): boolean {
  return UNBILLED.has(failure.class);
}
