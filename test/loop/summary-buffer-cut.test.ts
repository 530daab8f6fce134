import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Fact } from '../../src/domain/event.ts';
import { install } from '../../src/kernel/plugin.ts';
import { summaryBuffer, summaryBufferLimits } from '../../src/plugins/memory/summary-buffer.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, aTool, silent, type House } from '../support/house.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

const window = { max_turns: 2, keep_turns: 1, must_keep: [] };

interface Life {
  readonly facts: readonly Fact[];
  readonly ledger: Ledger;
  readonly hasCrashed: boolean;
}

async function live(crash: CrashPoint | undefined): Promise<Life> {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const ledger: Ledger = new Map();
  const pay = aTool(
    'pay',
    (_, { idempotencyKey }) => void ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1),
    { effect: 'once' },
  );
  const house = (over: typeof log | ReturnType<typeof dyingLog>): House =>
    aHouse({
      ...{ log: over, clock, tools: [pay], limits: summaryBufferLimits(window) },
      script: ({ request, userText, step }) =>
        request.instructions.startsWith('You keep the memory')
          ? { text: 'They spoke.' }
          : step === 0
            ? { actions: [{ name: 'pay', arguments: { for: userText } }] }
            : { text: `${userText}: so` },
      plugins: (bus) => void install(summaryBuffer, window, { bus, clock: systemClock, logger: silent }),
    });
  let now = house(crash === undefined ? log : dyingLog(log, crash));
  let hasCrashed = false;
  for (const text of ['one', 'two', 'three', 'four', 'five']) {
    await house(log).say(text);
    for (let slice = 0; slice < 5; slice++) {
      try {
        const { turn, inbox } = await clock.until(now.drive({ owner: `w${slice}` }));
        if (turn === undefined && inbox.length === 0) break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        hasCrashed = true;
        clock.advance(120_000);
        now = house(log);
      }
    }
  }
  return { facts: log.read('c1', 0, 10_000), ledger, hasCrashed };
}

/** What was said and summed up, in order. */
function story(facts: readonly Fact[]): unknown[] {
  return facts.flatMap(({ type, payload }): unknown[] =>
    type === 'io.output' ? [payload.text] : type === 'memory.compacted' ? [payload.through] : [],
  );
}

/** The prompt of a turn begins anew after a summary: that is what it is for. */
const rules = ({ facts, ledger }: Life): string[] =>
  brokenRules(facts, ledger).filter((one) => !one.includes('the cached prompt changed'));

const whole = await live(undefined);

test('the uncut conversation is summed up as its turns become too many', () => {
  const wanted = ['one: so', 'two: so', 'three: so', 2, 'four: so', 'five: so'];
  assert.deepEqual([rules(whole), story(whole.facts)], [[], wanted]);
});

test('cut anywhere, it is summed up as often, and nobody is paid twice', async () => {
  const wrong: string[] = [];
  for (const when of ['before', 'after'] as const) {
    for (let at = 1; ; at++) {
      const cut = await live({ at, when });
      if (!cut.hasCrashed) break;
      wrong.push(...rules(cut).map((rule) => `${when} ${at}: ${rule}`));
      if (JSON.stringify(story(cut.facts)) !== JSON.stringify(story(whole.facts)))
        wrong.push(`${when} ${at}: ${JSON.stringify(story(cut.facts))}`);
    }
  }
  assert.deepEqual(wrong, []);
});
