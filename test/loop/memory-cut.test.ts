import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Fact } from '../../src/domain/event.ts';
import { install } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { contextWindow } from '../../src/plugins/gates/context-window.ts';
import { capped, cappedLimits } from '../../src/plugins/memory/capped.ts';
import { toolResults, toolResultsLimits } from '../../src/plugins/memory/tool-results.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, aTool, type House } from '../support/house.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const page = 'and so on '.repeat(60);
const window = { max_turns: 2, keep_turns: 1 };
const results = { above_tokens: 200, keep: 1, least_bytes: 100 };

/** A window over two turns, results that are cleared within the third, and a gate for which its last message is too long. */
function house(
  log: ReturnType<typeof createMemoryLog> | ReturnType<typeof dyingLog>,
  clock: ReturnType<typeof aClock>,
  ledger: Ledger,
): House {
  return aHouse({
    log,
    clock,
    limits: { ...cappedLimits(window), ...toolResultsLimits(results) },
    tools: [
      aTool('look', (_, { idempotencyKey }) => {
        ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1);
        return page;
      }),
    ],
    script: ({ userText, step }) =>
      userText === 'three' && step < 6
        ? { actions: [{ name: 'look', arguments: { step } }], usage: { input: 500, output: 1 } }
        : { text: `${userText.slice(0, 5)}: so`, usage: { input: 500, output: 1 } },
    plugins: (bus) => {
      for (const [plugin, config] of [
        [capped, window],
        [toolResults, results],
        [contextWindow, { max_tokens: 1_200 }],
      ] as const)
        install(plugin as never, config, { bus, clock: systemClock, logger });
    },
  });
}

async function live(
  crash: CrashPoint | undefined,
): Promise<{ facts: readonly Fact[]; ledger: Ledger; crashed: boolean }> {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const ledger: Ledger = new Map();
  let now = house(crash === undefined ? log : dyingLog(log, crash), clock, ledger);
  let crashed = false;
  for (const text of ['one', 'two', 'three', 'four', `five ${'long '.repeat(700)}`]) {
    await (crashed ? now : house(log, clock, ledger)).say(text);
    for (let slice = 0; slice < 5; slice++) {
      try {
        const { turn, inbox } = await clock.until(now.drive({ owner: `w${slice}` }));
        if (turn === undefined && inbox.length === 0) break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashed = true;
        clock.advance(120_000);
        now = house(log, clock, ledger);
      }
    }
  }
  return { facts: log.read('c1', 0, 10_000), ledger, crashed };
}

const story = (facts: readonly Fact[]): unknown[] =>
  facts.flatMap((fact): unknown[] => {
    switch (fact.type) {
      case 'io.output':
        return [fact.payload.text];
      case 'memory.cleared':
      case 'memory.compacted':
        return [fact.payload];
      case 'agent.turn.end':
        return [fact.payload.status];
      default:
        return [];
    }
  });

/** A prompt begins anew after turns were left out or results cleared: that is what these are for. */
const rules = ({ facts, ledger }: { readonly facts: readonly Fact[]; readonly ledger: Ledger }): string[] =>
  brokenRules(facts, ledger).filter((one) => !one.includes('the cached prompt changed'));

const whole = await live(undefined);

test('the uncut run leaves turns out, clears results, and compacts once for a prompt that does not fit', () => {
  assert.deepEqual(rules(whole), []);
  assert.deepEqual(story(whole.facts), [
    ...['one: so', 'completed', 'two: so', 'completed'],
    ...[{ actions: ['t3-1-1', 't3-2-1'] }, 'three: so', 'completed'],
    { through: 2, summary: '(Turns 1 to 2 are left out here.)' },
    ...['four: so', 'completed'],
    { actions: ['t3-3-1', 't3-4-1', 't3-5-1'] },
    ...[{ through: 4, summary: '(Turns 1 to 4 are left out here.)' }, 'five : so', 'completed'],
  ]);
});

for (const when of ['before', 'after'] as const) {
  for (let at = 1; ; at++) {
    const cut = await live({ at, when });
    if (!cut.crashed) break;
    test(`a crash ${when} append ${at} is resumed to the same memory`, () => {
      assert.deepEqual({ broken: rules(cut), story: story(cut.facts) }, { broken: [], story: story(whole.facts) });
    });
  }
}
