import { TreadleError } from '../../src/base/errors.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Reply, Script } from '../../src/adapters/models/script.ts';
import { openRequests, openWaits } from '../../src/domain/conversation.ts';
import type { Fact, FactPayload } from '../../src/domain/event.ts';
import { deny, hold } from '../../src/kernel/verdict.ts';
import { waitFor } from '../../src/kernel/tool.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import { Crash, dyingLog } from './crash-log.ts';
import { aHouse, aTool, type House } from './house.ts';
import type { Ledger } from './invariants.ts';
import { aClock, type SimulatedClock } from './sim-clock.ts';

/** Numbers from a seed: mulberry32, public domain. */
function chance(seed: number): { next(): number; below(n: number): number; odds(probability: number): boolean } {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, below: (n) => Math.floor(next() * n), odds: (probability) => next() < probability };
}

const TOOLS = ['look', 'put', 'pay', 'flaky', 'slow', 'job', 'nowhere'];

/** A decision as a function of the seed and of how often the model was called: what a crash cannot change. */
function scriptOf(seed: number): Script {
  return (view): Reply => {
    const random = chance(seed * 7919 + view.replies * 31 + view.step);
    if (random.odds(0.05)) return { text: '' };
    if (random.odds(0.05)) return { text: 'cut', fault: 'cut' };
    if (random.odds(0.05)) return { fault: 'overloaded' };
    if (view.step > 5 || random.odds(0.3)) return { text: `answer ${view.replies}` };
    const actions = Array.from({ length: 1 + random.below(3) }, () => {
      const name = TOOLS[random.below(TOOLS.length)] ?? 'look';
      return random.odds(0.1) ? { name, input: '{"n":' } : { name, arguments: { n: random.below(4) } };
    });
    return random.odds(0.1)
      ? { actions, stop: 'length' }
      : { thinking: 'hm', text: random.odds(0.5) ? 'so' : '', actions };
  };
}

export function world(seed: number, log: Log, clock: SimulatedClock, ledger: Ledger): House {
  const happen =
    (result: unknown, wait: number) =>
    async (_: never, { idempotencyKey }: { readonly idempotencyKey: string }) => {
      if (wait > 0) await new Promise<void>((resolve) => void clock.after(wait, resolve));
      ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1);
      return result;
    };
  return aHouse({
    log,
    clock,
    script: scriptOf(seed),
    limits: { maxIterations: 8, maxConcurrent: 1 + (seed % 4), toolTimeoutMs: 5_000 },
    tools: [
      aTool('look', happen('seen', 0)),
      aTool('put', happen('put', 10), { effect: 'idempotent' }),
      aTool('pay', happen('paid', 20), { effect: 'once' }),
      aTool('flaky', () => Promise.reject(new Error('it broke'))),
      aTool('slow', happen('late', 20_000), { effect: 'once' }),
      aTool(
        'job',
        async (given: never, context: ToolContext) => {
          const result = await happen('begun', 10)(given, context);
          return context.idempotencyKey.endsWith('1')
            ? waitFor({ ticket: context.idempotencyKey, expiresInMs: 90_000 })
            : result;
        },
        { effect: 'once' },
      ),
    ],
    plugins: (bus) => {
      bus.before('before:tool.invoke', ({ tool, arguments: given }) => {
        const n = (given as { readonly n?: number }).n;
        if (tool.name === 'pay' && n === 0) return hold('May it pay?', { expiresInMs: 60_000 });
        return tool.name === 'put' && n === 1 ? deny('not one') : undefined;
      });
    },
  });
}

/** What people do while nobody looks: answer, twice, late or never; speak; stop; go on. */
async function meddle(house: House, random: ReturnType<typeof chance>, clock: SimulatedClock): Promise<void> {
  const { turn } = await house.fold();
  const open = turn === undefined ? [] : openRequests(turn);
  for (const { request } of open) {
    const decision = (['allow', 'reject', 'edit'] as const)[random.below(3)] ?? 'allow';
    const answer: FactPayload<'hitl.responded'> = {
      request,
      decision,
      by: 'ana',
      ...(decision === 'edit' ? { arguments: { n: 2 } } : {}),
    };
    if (random.odds(0.1)) clock.advance(120_000);
    else
      for (let times = 1 + random.below(2); times > 0; times--)
        await house.post({ type: 'hitl.responded', payload: answer, key: request });
  }
  const waits = turn === undefined ? [] : openWaits(turn);
  for (const wait of waits) {
    if (wait.kind !== 'computation') continue;
    if (random.odds(0.2)) clock.advance(120_000);
    const outcome = random.odds(0.7) ? 'ok' : 'failed';
    for (let times = 1 + random.below(2); times > 0; times--)
      await house.post({
        type: 'computation.ended',
        payload: { ticket: wait.ticket, outcome, value: times, by: 'farm' },
        key: wait.ticket,
      });
  }
  if (random.odds(0.2))
    await house.say(`and ${random.below(100)}`, (['message', 'followup', 'steer'] as const)[random.below(3)]);
  if (turn !== undefined && random.odds(0.1)) await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
}

export interface Life {
  readonly facts: readonly Fact[];
  readonly ledger: Ledger;
  readonly open: boolean;
}

/** One conversation's life: slices by workers that crash, stop for longer than their lease, and come back. */
export async function live(seed: number): Promise<Life> {
  const random = chance(seed);
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const ledger: Ledger = new Map();
  await world(seed, log, clock, ledger).say('go');
  for (let slice = 0; slice < 40; slice++) {
    const dies = slice < 20 && random.odds(0.4);
    const mortal = dies ? dyingLog(log, { at: 1 + random.below(8), when: random.odds(0.5) ? 'before' : 'after' }) : log;
    const house = world(seed, mortal, clock, ledger);
    const driving = house.drive({ owner: `w${slice}` });
    if (slice < 20 && random.odds(0.5)) await meddle(world(seed, log, clock, ledger), random, clock);
    try {
      await clock.until(driving);
    } catch (error) {
      if (!(error instanceof Crash) && !(TreadleError.is(error) && error.code === 'log_fenced')) throw error;
      clock.advance(120_000);
    }
    await meddle(house.log === log ? house : world(seed, log, clock, ledger), random, clock);
    const now = await house.fold().catch(() => undefined);
    if (slice >= 20 && now !== undefined && now.turn === undefined && now.inbox.length === 0) break;
  }
  const last = await world(seed, log, clock, ledger).fold();
  return {
    facts: log.read('c1', 0, 100_000),
    ledger,
    open: last.turn !== undefined && openRequests(last.turn).length === 0 && openWaits(last.turn).length === 0,
  };
}
