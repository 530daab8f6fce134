import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Fact } from '../../src/domain/event.ts';
import { systemClock } from '../../src/base/clock.ts';
import { install } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { compaction } from '../../src/plugins/memory/compaction.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, aTool, type House } from '../support/house.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const long = 'and so on '.repeat(140);

interface World {
  readonly ledger: Ledger;
  /** Summaries that a model was asked for. */
  asked: number;
}

/** Two turns, then one whose first call is too long for the provider, with actions before and after. Two calls make the summary. */
function house(
  log: ReturnType<typeof createMemoryLog> | ReturnType<typeof dyingLog>,
  clock: ReturnType<typeof aClock>,
  world: World,
): House {
  return aHouse({
    log,
    clock,
    tools: [
      aTool(
        'pay',
        (_, { idempotencyKey }) => void world.ledger.set(idempotencyKey, (world.ledger.get(idempotencyKey) ?? 0) + 1),
        { effect: 'once' },
      ),
    ],
    script: ({ request, userText, step }) => {
      if (request.instructions.startsWith('You keep the memory')) {
        world.asked++;
        return { text: 'They spoke.' };
      }
      if (userText === 'three' && JSON.stringify(request.messages).length > 2_500) return { fault: 'context_length' };
      return step === 0
        ? { actions: [{ name: 'pay', arguments: { for: userText } }] }
        : { text: `${userText}: ${long}` };
    },
    plugins: (bus) => {
      install(compaction, { keep_turns: 0, piece_tokens: 500 }, { bus, clock: systemClock, logger });
    },
  });
}

async function live(
  crash: CrashPoint | undefined,
): Promise<{ facts: readonly Fact[]; world: World; crashed: boolean }> {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const world: World = { ledger: new Map(), asked: 0 };
  let now = house(crash === undefined ? log : dyingLog(log, crash), clock, world);
  let crashed = false;
  for (const text of ['one', 'two', 'three']) {
    await (crashed ? now : house(log, clock, world)).say(text);
    for (let slice = 0; slice < 5; slice++) {
      try {
        const { turn, inbox } = await clock.until(now.drive({ owner: `w${slice}` }));
        if (turn === undefined && inbox.length === 0) break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashed = true;
        clock.advance(120_000);
        now = house(log, clock, world);
      }
    }
  }
  return { facts: log.read('c1', 0, 10_000), world, crashed };
}

const story = (facts: readonly Fact[]): unknown[] =>
  facts.flatMap((fact): unknown[] =>
    fact.type === 'io.output'
      ? [fact.payload.text.slice(0, 6)]
      : fact.type === 'memory.compacted'
        ? [fact.payload]
        : fact.type === 'agent.turn.end'
          ? [fact.payload.status]
          : [],
  );

/** The prompt of a turn begins anew after a summary: that is what it is for. */
const rules = (facts: readonly Fact[], ledger: Ledger): string[] =>
  brokenRules(facts, ledger).filter((one) => !one.includes('the cached prompt changed'));

const whole = await live(undefined);

test('the uncut run summarises once, in two calls', () => {
  assert.deepEqual(
    { broken: rules(whole.facts, whole.world.ledger), asked: whole.world.asked, story: story(whole.facts) },
    {
      broken: [],
      asked: 2,
      story: [
        ...['one: a', 'completed', 'two: a', 'completed'],
        { through: 2, summary: 'They spoke.' },
        ...['three:', 'completed'],
      ],
    },
  );
});

for (const when of ['before', 'after'] as const) {
  for (let at = 1; ; at++) {
    const cut = await live({ at, when });
    if (!cut.crashed) break;
    test(`a crash ${when} append ${at} is resumed to the same end with one summary`, () => {
      const answered = cut.facts.filter((fact) => fact.type === 'llm.response' && fact.payload.purpose === 'compact');
      assert.deepEqual(
        { broken: rules(cut.facts, cut.world.ledger), story: story(cut.facts) },
        { broken: [], story: story(whole.facts) },
      );
      assert.equal(answered.length, 2, 'an answer that is on record is not asked for again');
    });
  }
}
