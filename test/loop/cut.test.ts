import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import type { Fact } from '../../src/domain/event.ts';
import { hold } from '../../src/kernel/verdict.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, aTool, type House } from '../support/house.ts';
import { brokenRules, type Ledger } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';

/** Parallel actions of every effect, an approval, then a second action and an answer. */
const script: Script = (view) => {
  if (view.step === 0)
    return {
      thinking: 'so',
      actions: [
        { name: 'look' },
        { name: 'put', arguments: { n: 1 } },
        { name: 'pay', arguments: { to: 'a' } },
        { name: 'add', arguments: { n: 1 } },
      ],
    };
  if (view.step === 1) return { text: 'once more', actions: [{ name: 'pay', arguments: { to: 'b' } }] };
  return { text: `done after ${view.step} decisions` };
};

function world(
  log: ReturnType<typeof createMemoryLog> | ReturnType<typeof dyingLog>,
  ledger: Ledger,
  clock: ReturnType<typeof aClock>,
): House {
  const happen = (_: unknown, { idempotencyKey }: { readonly idempotencyKey: string }): string => {
    ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1);
    return 'done';
  };
  return aHouse({
    log,
    clock,
    script,
    tools: [
      aTool('look', happen),
      aTool('put', happen, { effect: 'idempotent' }),
      aTool('pay', happen, { effect: 'once' }),
      aTool('add', happen, { effect: 'once' }),
    ],
    plugins: (bus) =>
      bus.before('before:tool.invoke', ({ tool }) => (tool.name === 'pay' ? hold('May it pay?') : undefined), {
        source: 'gate.approval',
      }),
  });
}

/** Drives to the end, answering every approval with yes; a new process takes over after each crash. */
async function live(
  crash: CrashPoint | undefined,
): Promise<{ readonly facts: readonly Fact[]; readonly ledger: Ledger; readonly crashed: boolean }> {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const ledger: Ledger = new Map();
  let house = world(crash === undefined ? log : dyingLog(log, crash), ledger, clock);
  await house.say('go');
  let crashed = false;
  for (let slice = 0; slice < 10; slice++) {
    try {
      const conversation = await clock.until(house.drive({ owner: `w${slice}` }));
      if (conversation.turn === undefined) break;
      for (const open of conversation.turn.requests.filter(
        (one) => one.answer === undefined && one.cancelled === undefined,
      )) {
        await house.post({
          type: 'hitl.responded',
          payload: { request: open.request, decision: 'allow', by: 'ana' },
          key: open.request,
        });
      }
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      crashed = true;
      clock.advance(120_000); // the dead worker's lease runs out
      house = world(log, ledger, clock);
    }
  }
  return { facts: await house.facts(), ledger, crashed };
}

/** What people would see: answers and results, without what a crash adds. */
function timeline(facts: readonly Fact[]): unknown[] {
  return facts.flatMap((fact): unknown[] => {
    switch (fact.type) {
      case 'tool.result':
        return [[fact.payload.action, fact.payload.outcome]];
      case 'io.output':
        return [fact.payload.text];
      case 'agent.turn.end':
        return [[fact.payload.status, fact.payload.iterations]];
      default:
        return [];
    }
  });
}

const whole = await live(undefined);
const unbroken = new Map(timeline(whole.facts).map((one) => [JSON.stringify(one), one]));

test('the uncut run keeps every rule and ends', () => {
  assert.deepEqual(
    { broken: brokenRules(whole.facts, whole.ledger), last: timeline(whole.facts).at(-1) },
    { broken: [], last: ['completed', 3] },
  );
});

for (const when of ['before', 'after'] as const) {
  for (let at = 1; ; at++) {
    const cut = await live({ at, when });
    if (!cut.crashed) break;
    test(`a crash ${when} append ${at} is resumed to the same end, with nothing done twice`, () => {
      // A write that was begun and has no result is unknown, and only that.
      const strange = timeline(cut.facts).filter(
        (one) => !unbroken.has(JSON.stringify(one)) && !(Array.isArray(one) && one[1] === 'unknown'),
      );
      assert.deepEqual(
        { broken: brokenRules(cut.facts, cut.ledger), strange, last: timeline(cut.facts).at(-1) },
        { broken: [], strange: [], last: ['completed', 3] },
      );
    });
  }
}
