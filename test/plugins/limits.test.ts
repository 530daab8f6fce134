// The gates that count: rates, budgets, deadlines, and which tools there are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../src/base/clock.ts';
import { isPromise } from '../../src/base/promise.ts';
import { emptyConversation, type Conversation } from '../../src/domain/conversation.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import type { Spending } from '../../src/kernel/ledger.ts';
import { install, type InstallOptions, type Plugin } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { Judgement, Questions } from '../../src/kernel/verdict.ts';
import { rateLimiter } from '../../src/plugins/gates/rate-limiter.ts';
import { tokenBudget } from '../../src/plugins/gates/token-budget.ts';
import { toolFilter } from '../../src/plugins/gates/tool-filter.ts';
import { toolTimeout } from '../../src/plugins/gates/tool-timeout.ts';
import { aCaller, ana, withHost } from '../runs/a-host.ts';
import { aHouse, anAgent, aTool, lastOf, type House } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function put(
  plugin: Plugin<never>,
  config: unknown,
  clock: Clock = aClock(),
  more: Pick<InstallOptions, 'spending' | 'modelsOf'> = {},
): (bus: Bus) => void {
  return (bus) => void install(plugin as Plugin, config, { bus, clock, logger, ...more });
}

type Call = Questions['before:llm.request'];
const request: ModelRequest = {
  model: { provider: 'scripted', model: 'scripted' },
  ...{ instructions: '', tools: [], messages: [], announce: undefined, toolChoice: undefined },
};

/** Asks the gates about a model call of a conversation, at once. */
function call(bus: Bus, id: string, more: Partial<Call> = {}): Judgement<Call> {
  const question: Call = { request, iteration: 1, attempt: 1, notes: [], ...more };
  const judged = bus.ask('before:llm.request', question, {
    conversation: emptyConversation(id, 'main'),
    agent: anAgent([]),
  });
  assert.ok(!isPromise(judged));
  return judged;
}

function limited(config: unknown): { readonly bus: Bus; readonly clock: ReturnType<typeof aClock> } {
  const clock = aClock();
  return { bus: aHouse({ clock, plugins: put(rateLimiter as Plugin<never>, config, clock) }).bus, clock };
}

test('whoever asks, and whenever: no window ever has more calls, nobody waits for ever, and who came first goes first', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.nat(700), { minLength: 1, maxLength: 25 }),
      (calls, pauses) => {
        const { bus, clock } = limited({ calls, per_ms: 1_000, max_wait_ms: 1_000_000 });
        const admitted: { id: string; at: number }[] = [];
        const waiting = new Map<string, number>();
        const ask = (id: string): void => {
          const { outcome, denial } = call(bus, id);
          if (outcome === 'allow') {
            waiting.delete(id);
            admitted.push({ id, at: clock.now() });
          } else waiting.set(id, denial?.retryAt ?? Number.NaN);
        };
        const wakeUntil = (until: number): void => {
          for (;;) {
            const [next] = [...waiting].sort(([, left], [, right]) => left - right);
            if (next === undefined || next[1] > until) break;
            clock.advance(next[1] - clock.now());
            ask(next[0]);
          }
        };
        for (const [index, pause] of pauses.entries()) {
          const at = clock.now() + pause;
          wakeUntil(at);
          clock.advance(at - clock.now());
          ask(`c${index}`);
        }
        wakeUntil(Infinity);
        assert.deepEqual(
          admitted.map(({ id }) => id),
          pauses.map((_, index) => `c${index}`),
        );
        for (const [index, { at }] of admitted.entries()) {
          const later = admitted[index + calls];
          assert.ok(later === undefined || later.at - at >= 1_000);
        }
      },
    ),
  );
});

test('a call that waits keeps its place however often it is asked about, and takes one place only', () => {
  const { bus, clock } = limited({ calls: 1, per_ms: 1_000 });
  call(bus, 'a');
  const first = call(bus, 'b').denial?.retryAt;
  assert.equal(call(bus, 'b').denial?.retryAt, first);
  assert.equal(call(bus, 'c').denial?.retryAt, (first ?? 0) + 1_000);
  clock.advance(1_000);
  assert.equal(call(bus, 'b').outcome, 'allow');
});

test('a place that nobody comes to take is given up, and holds up nobody', () => {
  const { bus, clock } = limited({ calls: 1, per_ms: 1_000, max_pending: 1 });
  call(bus, 'a');
  assert.notEqual(call(bus, 'b').denial?.retryAt, undefined);
  const third = call(bus, 'c').denial;
  assert.deepEqual([third?.code, third?.retryAt], ['rate_limited', undefined]);
  clock.advance(60_000);
  assert.equal(call(bus, 'd').outcome, 'allow');
});

test('without a queue, or for too long a wait, a call is refused for good', () => {
  const { bus } = limited({ calls: 1, per_ms: 1_000, mode: 'reject' });
  call(bus, 'a');
  assert.deepEqual([call(bus, 'b').denial?.code, call(bus, 'b').denial?.retryAt], ['rate_limited', undefined]);
  const short = limited({ calls: 1, per_ms: 1_000, max_wait_ms: 1_500 });
  for (const id of ['a', 'b']) call(short.bus, id);
  assert.equal(call(short.bus, 'c').denial?.retryAt, undefined);
});

const LIMITED = `
id: post
plugins: { active: [gate.rate_limiter], gate.rate_limiter: { calls: 1, per_ms: 400 } }
surfaces: { as_consumer: { agents: { main: { tools: [] } } } }
models: { balanced: { provider: scripted, model: scripted } }
`;

test('runs that wait for their turn hold up no other, say what they wait for, and all come to their end', () =>
  withHost({ bundle: LIMITED, script: { replies: [{ text: 'Done.' }], repeat: true } }, async ({ host, until }) => {
    const begun = await Promise.all(
      ['a', 'b', 'c'].map(async (prompt) => (await host.runs.create(ana, { prompt })).run.id),
    );
    const waiting = await until(begun[2] ?? '', ({ waitingOn, terminal }) => terminal || waitingOn.length > 0);
    assert.deepEqual(
      [waiting.status, waiting.waitingOn.map((one) => (one.kind === 'gate' ? one.gate : one.kind))],
      ['waiting_for_computation', ['gate.rate_limiter']],
    );
    for (const id of begun) await until(id, ({ status }) => status === 'completed');
    const log = await host.runs.log(ana, begun[2] ?? '');
    assert.ok(log.facts.some(({ type }) => type === 'gate.llm.retry'));
    await assert.rejects(host.runs.log(aCaller({ userId: 'bo' }), begun[2] ?? ''), { code: 'run_unknown' });
  }));

test('an aside that has to wait waits, and the turn goes on with it', async () => {
  const clock = aClock();
  const house = aHouse({
    clock,
    agent: { planning: { approval: 'never', placement: 'announce' } },
    script: { replies: [{ text: 'fine' }], repeat: true },
    plugins(bus) {
      put(rateLimiter as Plugin<never>, { calls: 1, per_ms: 1_000 }, clock)(bus);
      bus.answer('plan.request', async (_, { askModel }) => {
        await askModel({ instructions: 'a', text: 'a' });
        const second = await askModel({ instructions: 'b', text: 'b' });
        return { steps: [{ title: second.ok ? second.text : second.error }], source: 'test' };
      });
    },
  });
  let { turns }: Conversation = await clock.until(house.ask('go'));
  if (turns.length === 0) {
    clock.advance(5_000);
    ({ turns } = await clock.until(house.drive({ owner: 'later' })));
  }
  const planned = await lastOf(house, 'plan.result');
  assert.deepEqual([planned?.steps[0]?.title, turns.at(-1)?.output], ['fine', 'fine']);
});

const budgets = (tokens: number, money: string): Spending => ({
  of: () => Promise.resolve({ tokens, money }),
  costOf: () => undefined,
});
const modelsOf = (_: string, role: string) =>
  role === 'quick' ? [{ provider: 'scripted', model: 'small' }] : undefined;

async function spentUp(ceiling: object, spending: Spending | undefined): Promise<House> {
  const house = aHouse({
    script: { replies: [{ text: 'done', usage: { input: 50, output: 10 } }], repeat: true },
    plugins: put(tokenBudget as Plugin<never>, { ceilings: [ceiling] }, aClock(), { spending, modelsOf }),
  });
  await house.ask('one');
  await house.ask('two');
  return house;
}

test('a ceiling that is reached takes a smaller model, or warns once a turn, and stops nothing', async () => {
  const day = { of: 'user', per: 'day', money: 1 };
  const downgraded = await spentUp({ ...day, on_exceed: 'downgrade', role: 'quick' }, budgets(0, '1'));
  assert.equal((await lastOf(downgraded, 'llm.request'))?.model.model, 'small');
  const within = await spentUp({ ...day, on_exceed: 'downgrade', role: 'quick' }, budgets(0, '0.99'));
  assert.equal((await lastOf(within, 'llm.request'))?.model.model, 'scripted');
  const warned = await spentUp({ ...day, on_exceed: 'warn' }, budgets(0, '2'));
  assert.match((await lastOf(warned, 'llm.request'))?.notes?.[0] ?? '', /the user's budget of a day, \$1, is used up/);
  assert.equal((await warned.fold()).turns.at(-1)?.output, 'done');
});

test('where nothing is counted but the log, a run has its ceiling and users have none', async () => {
  const run = await spentUp({ of: 'run', tokens: 60 }, undefined);
  assert.deepEqual(
    [...(await run.fold()).turns].map(({ end }) => end?.error?.code),
    [undefined, 'max_tokens'],
  );
  const user = await spentUp({ of: 'user', tokens: 1 }, undefined);
  assert.equal((await user.fold()).turns.at(-1)?.output, 'done');
});

test('a ceiling that makes no sense is refused with its place', () => {
  for (const [ceiling, path] of [
    [{ of: 'run' }, 'ceilings.0'],
    [{ of: 'run', per: 'day', tokens: 1 }, 'ceilings.0.per'],
    [{ of: 'user', tokens: 1, on_exceed: 'downgrade' }, 'ceilings.0.role'],
    [{ of: 'user', tokens: 1, role: 'quick' }, 'ceilings.0.role'],
  ] as const) {
    const parsed = tokenBudget.config.safeParse({ ceilings: [ceiling] });
    assert.equal(parsed.error?.issues[0]?.path.join('.'), path);
  }
});

test('a tool that is filtered is neither shown nor run, also where another tool is asked to call it', async () => {
  const ran: string[] = [];
  let shown: readonly string[] = [];
  const house = aHouse({
    tools: [
      aTool('look', () => ran.push('look')),
      aTool('mail_send', () => ran.push('mail_send')),
      aTool('mail_read', () => ran.push('mail_read')),
    ],
    script: (view) => {
      shown = view.request.tools.map(({ name }) => name);
      return view.step === 0
        ? { actions: ['mail_send', 'mail_read', 'look'].map((name) => ({ name, arguments: {} })) }
        : { text: 'done' };
    },
    plugins: put(toolFilter as Plugin<never>, { allow: ['mail_*'], deny: ['*_send'] }),
  });
  await house.ask('go');
  assert.deepEqual([shown, ran], [['mail_read'], ['mail_read']]);
  const asked = house.bus.ask(
    'before:tool.invoke',
    { action: 'a', tool: aTool('look', () => 1).definition, arguments: {}, timeoutMs: 1 },
    { conversation: await house.fold(), agent: undefined },
  );
  assert.ok(!isPromise(asked));
  assert.equal(asked.denial?.code, 'tool_filtered');
});

test('of deadlines the name counts before a pattern, the longest pattern before others, and people have none', () => {
  const clock = aClock();
  const config = { default_ms: 1, tools: { 'web_*': 2, web_search: 3, 'web_s*': 4, ask_user: 5 } };
  const { bus } = aHouse({ clock, plugins: put(toolTimeout as Plugin<never>, config, clock) });
  const deadline = (name: string, timeoutMs: number): number => {
    const payload = { action: 'a', tool: aTool(name, () => 1).definition, arguments: {}, timeoutMs };
    const judged = bus.ask('before:tool.invoke', payload, {
      conversation: emptyConversation('c1', 'main'),
      agent: undefined,
    });
    assert.ok(!isPromise(judged));
    return judged.payload.timeoutMs;
  };
  assert.deepEqual(
    [
      deadline('web_search', 9),
      deadline('web_see', 9),
      deadline('web_get', 9),
      deadline('other', 9),
      deadline('delegate', 0),
      deadline('ask_user', 0),
    ],
    [3, 4, 2, 1, 0, 5],
  );
});
