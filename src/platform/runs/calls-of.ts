import type { Fact, FactOf } from '../../domain/event.ts';
import { EntryMaker } from '../metering/entries.ts';
import { pricesOf } from '../metering/meter.ts';
import type { Caller } from './caller.ts';
import type { Call, CallsPage, CallsQuery } from './calls.ts';
import { checkedLimit, runOf, type RunsPorts } from './ports.ts';

const LIMIT = 200;
const MOST = 1_000;
const PAGE = 1_000;

type Building = { -readonly [K in keyof Call]: Call[K] };

/** Every model call of a run, with what it was expected to read and what it was billed. One more than asked is looked for. */
export async function calls(ports: RunsPorts, caller: Caller, id: string, query: CallsQuery): Promise<CallsPage> {
  const row = await runOf(ports, caller, 'read', id);
  const limit = checkedLimit(query.limit, LIMIT, MOST);
  const { after = 0 } = query;
  const prices = pricesOf(ports.served.of(row)?.loaded.bundle ?? {});
  const maker = new EntryMaker();
  const found: Building[] = [];
  let turn = 0;
  let open: Building | undefined;
  let isWhole = false;
  for (let read = 0; !isWhole;) {
    const page = await ports.log.read(id, read, PAGE);
    for (const fact of page) {
      const cost = maker.entry(fact, prices)?.call?.cost;
      if (fact.type === 'agent.turn.start' && fact.payload.resumed !== true) turn++;
      else if (fact.type === 'llm.request') {
        open = begun(fact, turn);
        if (fact.seq > after) found.push(open);
        if (found.length > limit) {
          isWhole = true;
          break;
        }
      } else if (fact.type === 'llm.response' && open !== undefined) end(open, fact, cost);
      else if (fact.type === 'cache.cold' && open !== undefined) open.cold = fact.payload;
    }
    read = page.at(-1)?.seq ?? read;
    if (page.length < PAGE) break;
  }
  return { calls: found.slice(0, limit), hasMore: found.length > limit };
}

function begun({ seq, at, iteration = 0, payload }: FactOf<'llm.request'>, turn: number): Building {
  const { model, role, attempt, purpose, expectedRead, markers, unmarked, sections = {} } = payload;
  return {
    ...{ seq, turn, iteration, attempt, at, role, usage: {}, changed: Object.keys(sections) },
    ...{ provider: model.provider, model: model.model },
    ...(purpose !== undefined && { purpose }),
    ...(expectedRead !== undefined && { expectedRead }),
    ...(markers !== undefined && { markers }),
    ...(unmarked !== undefined && { unmarked }),
  };
}

function end(call: Building, { at, payload }: Extract<Fact, { type: 'llm.response' }>, cost: string | undefined): void {
  const { usage, stop, served, failure } = payload;
  call.usage = usage;
  call.stop = stop;
  call.ms = Math.max(0, at - call.at);
  if (served !== undefined) call.served = served;
  if (failure !== undefined) call.failure = { class: failure.class, message: failure.message };
  if (cost !== undefined) call.cost = { amount: cost, currency: 'USD' };
}
