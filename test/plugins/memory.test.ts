import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { transcript } from '../../src/assembly/transcript.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Limits } from '../../src/domain/agent.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { install, type Plugin } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { Reply, ScriptFunction, ScriptView } from '../../src/adapters/models/script.ts';
import { contextWindow } from '../../src/plugins/gates/context-window.ts';
import { capped, cappedLimits } from '../../src/plugins/memory/capped.ts';
import { compaction } from '../../src/plugins/memory/compaction.ts';
import { summaryBuffer, summaryBufferLimits } from '../../src/plugins/memory/summary-buffer.ts';
import { toolResults, toolResultsLimits } from '../../src/plugins/memory/tool-results.ts';
import { contextGroup } from '../../src/plugins/tools/context.ts';
import { cachedModels } from '../support/cached-model.ts';
import { aHouse, aTool, lastOf, type House, type HouseOptions } from '../support/house.ts';
import { brokenMessages } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';
import { runTool } from '../support/tool-context.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

type Put = readonly [plugin: Plugin, config?: unknown];

function house(put: readonly Put[], options: HouseOptions): House {
  return aHouse({
    ...options,
    plugins(bus: Bus) {
      options.plugins?.(bus);
      for (const [plugin, config = {}] of put) install(plugin, config, { bus, clock: systemClock, logger });
    },
  });
}

const shown = async (one: House): Promise<string[]> =>
  transcript(await one.fold(), { provider: 'scripted', model: 'scripted' }).map((message) =>
    message.role === 'user' && message.content[0]?.type === 'text' ? message.content[0].text : message.role,
  );

const isAside = ({ request }: ScriptView): boolean => request.instructions.startsWith('You keep the memory');
const long = 'and so on '.repeat(40);
const spoken: ScriptFunction = ({ userText }) => ({ text: `${userText}: ${long}`, usage: { input: 100, output: 10 } });
const seven = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];

describe('memory.capped', () => {
  const config = { max_turns: 4, keep_turns: 2 };
  const options = { script: spoken, limits: cappedLimits(config) };

  test('older turns are left out once there are too many, many at a time, and no model is asked', async () => {
    const one = house([[capped, config]], options);
    for (const text of seven) await one.ask(text);
    assert.deepEqual(await shown(one), [
      '[SUMMARY OF THE CONVERSATION SO FAR]\n(Turns 1 to 3 are left out here.)',
      ...['four', 'assistant', 'five', 'assistant', 'six', 'assistant', 'seven', 'assistant'],
    ]);
    const facts = await one.facts();
    assert.equal(facts.filter(({ type }) => type === 'memory.compacted').length, 1);
    assert.equal(facts.filter(({ type }) => type === 'llm.request').length, 7);
  });

  test('a prompt that is too large loses what is more than half of what fits', async () => {
    const limits: Partial<Limits> = cappedLimits({ max_tokens: 1_000 });
    const one = house([[capped, { max_tokens: 1_000 }]], {
      limits,
      script: ({ userText }) => ({ text: `${userText}: ${long}`, usage: { input: 400 * seven.indexOf(userText) } }),
    });
    for (const text of seven.slice(0, 4)) await one.ask(text);
    assert.equal(await lastOf(one, 'memory.compacted'), undefined);
    await one.ask('five');
    assert.deepEqual(await lastOf(one, 'memory.compacted'), { through: 1, summary: '(Turn 1 is left out here.)' });
  });

  test('a window that keeps no fewer turns than it has is refused', () => {
    assert.equal(capped.config.safeParse({ max_turns: 3, keep_turns: 3 }).success, false);
    assert.equal(capped.config.safeParse({ keep_turns: 40 }).success, false);
  });
});

describe('memory.summary_buffer', () => {
  const config = { max_turns: 4, keep_turns: 2 };
  const kept = 'They spoke.\ndecisions: none\n- Open points: the fence';
  const world = (summary: (count: number) => Reply): { house: House; asked: string[] } => {
    const asked: string[] = [];
    const script: ScriptFunction = (view) => {
      if (!isAside(view)) return spoken(view);
      const [first] = view.request.messages;
      asked.push(first?.role === 'user' && first.content[0]?.type === 'text' ? first.content[0].text : '');
      return summary(asked.length);
    };
    return { house: house([[summaryBuffer, config]], { script, limits: summaryBufferLimits(config) }), asked };
  };

  test('a summary grows with the conversation, and the latest turns stay word for word', async () => {
    const { house: one, asked } = world(() => ({ text: kept }));
    for (const text of [...seven, 'eight', 'nine']) await one.ask(text);
    assert.deepEqual(
      (await shown(one)).map((text) => text.slice(0, 48)),
      [
        '[SUMMARY OF THE CONVERSATION SO FAR]\nThey spoke.',
        ...['seven', 'assistant', 'eight', 'assistant', 'nine', 'assistant'],
      ],
    );
    assert.equal(asked.length, 2);
    assert.match(asked[1] ?? '', /^\[SUMMARY OF WHAT CAME BEFORE\]\nThey spoke/);
  });

  test('a summary that lacks a line is asked for once more, and counts then whatever it has', async () => {
    const { house: one, asked } = world((count) => ({
      text: count === 1 ? 'They spoke.' : 'They spoke.\ndecisions: none',
    }));
    for (const text of seven) await one.ask(text);
    assert.match(asked[1] ?? '', /no line for: decisions, open points\. Write it again/);
    assert.equal((await lastOf(one, 'memory.compacted'))?.summary, 'They spoke.\ndecisions: none');
    assert.equal(asked.length, 2);
  });

  test('a summary that fails leaves every turn where it was, and the next turn tries again', async () => {
    const { house: one, asked } = world((count) => (count === 1 ? { fault: 'server' } : { text: kept }));
    for (const text of seven.slice(0, 6)) await one.ask(text);
    assert.equal((await one.fold()).summary, undefined);
    await one.ask('seven');
    assert.equal((await one.fold()).summary?.through, 4);
    assert.equal(asked.length, 2);
  });
});

describe('memory.tool_results', () => {
  const big = 'x'.repeat(8_000);
  const tools = [aTool('look', ({ n }: { n: number }) => `${n}${big}`), aTool('context_read', () => '')];
  const config = { above_tokens: 4_000, keep: 2 };
  const limits = { ...toolResultsLimits(config), maxIterations: 30 };
  /** So many looks, one after the other, then an answer. */
  const looks =
    (count: number): ScriptFunction =>
    ({ step }) =>
      step < count
        ? { actions: [{ name: 'look', arguments: { n: step } }], usage: { input: 2_000 * (step + 1), output: 1 } }
        : { text: 'Done.', usage: { input: 2_000 * count, output: 1 } };

  test('within one long turn old results go, together, and neither the latest nor those of the last requests', async () => {
    const one = house([[toolResults, config]], { tools, limits, script: looks(9) });
    await one.ask('go');
    const cleared = (await one.facts()).flatMap((fact) =>
      fact.type === 'memory.cleared' ? [fact.payload.actions] : [],
    );
    assert.deepEqual(cleared, [
      ['t1-1-1', 't1-2-1'],
      ['t1-3-1', 't1-4-1'],
    ]);
  });

  test('what is cleared stays cleared, by the same bytes, says how it is read, and every prompt is whole', async () => {
    const seen: string[] = [];
    const one = house([[toolResults, config]], {
      tools,
      limits,
      script: (view) => {
        seen.push(JSON.stringify(view.request.messages.slice(0, 3)));
        assert.deepEqual(brokenMessages(view.request.messages), []);
        return looks(9)(view);
      },
    });
    await one.ask('go');
    await one.ask('and again');
    const after = new Set(seen.filter((text) => text.includes('"cleared"')));
    assert.equal(after.size, 1);
    assert.match([...after][0] ?? '', /"read_with":"context_read action t1-1-1"/);
    assert.equal(
      seen.findIndex((text) => text.includes('"cleared"')),
      6,
    );
    const talk = await one.fold();
    const read = (await runTool(
      contextGroup,
      'context_read',
      { action: 't1-1-1', limit: 5 },
      { conversation: talk },
    )) as { content: { text: string }[]; value: { length: number } };
    assert.deepEqual([read.content[0]?.text, read.value.length], ['"0xxx', 8_003]);
  });

  test('a failed result and a small one stay', async () => {
    const mixed = [
      aTool('look', ({ n }: { n: number }) => (n % 2 === 0 ? 'small' : `${n}${big}`)),
      aTool('fail', () => Promise.reject(new Error(big))),
    ];
    const one = house([[toolResults, { ...config, above_tokens: 100 }]], {
      tools: mixed,
      limits: { ...limits, resultsMaxTokens: 100 },
      script: ({ step }) =>
        step < 8
          ? { actions: [{ name: step === 0 ? 'fail' : 'look', arguments: { n: step } }], usage: { input: 9_000 } }
          : { text: 'Done.' },
    });
    await one.ask('go');
    assert.deepEqual([...(await one.fold()).cleared], ['t1-2-1', 't1-4-1']);
  });

  test('with a cold cache whatever is old goes at once, and the ledger says what changed a warm prompt', async () => {
    const clock = aClock();
    const model = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
    const small = { ...limits, resultsMaxTokens: 100_000 };
    const cold = house([[toolResults, config]], {
      clock,
      tools,
      limits: small,
      agent: { models: [model] },
      models: cachedModels(looks(3), clock),
    });
    await clock.until(cold.ask('go'));
    clock.advance(3_600_000);
    await clock.until(cold.ask('and again'));
    assert.deepEqual((await lastOf(cold, 'memory.cleared'))?.actions, ['t1-1-1']);
    const warm = house([[toolResults, config]], {
      clock,
      tools,
      limits: { ...limits, resultsMaxTokens: 4_000 },
      agent: { models: [model] },
      models: cachedModels(looks(9), clock),
    });
    await clock.until(warm.ask('go'));
    const found = await lastOf(warm, 'cache.cold');
    assert.deepEqual([found?.cause, found?.section, found?.change], ['ours', 'turn', 'clearing']);
  });
});

describe('gate.context_window', () => {
  const model = { provider: 'scripted', model: 'scripted', contextWindow: 1_000, maxTokens: 200 };
  const sized: ScriptFunction = (view) =>
    isAside(view) ? { text: 'They spoke.' } : { text: `${view.userText}: ${long}`, usage: { input: 300, output: 100 } };

  test('a prompt that does not fit is compacted before it is sent, and the turn goes on', async () => {
    const one = house([[contextWindow], [compaction, { keep_turns: 0 }]], {
      script: sized,
      agent: { models: [model] },
    });
    for (const text of ['one', 'two']) await one.ask(text);
    await one.ask('x'.repeat(2_000));
    const story = (await one.story()).split(' ').slice(-9).join(' ');
    assert.equal(
      story,
      'gate.verdict memory.compact.request llm.request llm.response memory.compacted llm.request llm.response io.output agent.turn.end',
    );
    assert.equal((await lastOf(one, 'memory.compact.request'))?.why, 'window');
  });

  test('a prompt that cannot be made to fit ends the turn, after one attempt and with the figures', async () => {
    const one = house([[contextWindow], [compaction, { keep_turns: 0 }]], {
      script: sized,
      agent: { models: [model] },
    });
    await one.ask('one');
    const { turns } = await one.ask('x'.repeat(8_000));
    assert.deepEqual([turns.at(-1)?.end?.status, turns.at(-1)?.end?.error?.code], ['error', 'context_window']);
    assert.match(turns.at(-1)?.end?.error?.message ?? '', /about 2\d\d\d tokens, and 800 fit/);
    const asked = (await one.facts()).filter(({ type }) => type === 'memory.compact.request');
    assert.equal(asked.length, 1);
    // And the conversation is not locked.
    assert.equal((await one.ask('short')).turns.at(-1)?.end?.status, 'completed');
  });

  test('without anybody who can compact, the turn ends with that', async () => {
    const one = house([[contextWindow]], { script: sized, agent: { models: [model] } });
    const { turns } = await one.ask('x'.repeat(8_000));
    assert.equal(turns.at(-1)?.end?.error?.code, 'context_window');
  });

  test('a model without a known window is not judged, but by max_tokens', async () => {
    const free = house([[contextWindow]], { script: sized });
    assert.equal((await free.ask('x'.repeat(90_000))).turns.at(-1)?.end?.status, 'completed');
    const bound = house([[contextWindow, { max_tokens: 500 }]], { script: sized });
    assert.equal((await bound.ask('x'.repeat(9_000))).turns.at(-1)?.end?.error?.code, 'context_window');
  });

  test('a picture counts as a picture and not as its bytes', async () => {
    const one = house([[contextWindow, { max_tokens: 3_000 }]], { script: sized });
    await one.post({
      type: 'io.input',
      payload: {
        text: 'what is this?',
        mode: 'message',
        attachments: [{ type: 'file', mediaType: 'image/png', data: 'A'.repeat(400_000) }],
      },
    });
    assert.equal((await one.drive()).turns.at(-1)?.end?.status, 'completed');
  });
});

test('with no memory plugin, a turn whose prompt has reached context_max_tokens ends and says so', async () => {
  const one = aHouse({ script: spoken, limits: { contextMaxTokens: 100, contextEnds: true } });
  await one.ask('one');
  const { turns } = await one.ask('two');
  assert.deepEqual([turns.at(-1)?.end?.status, turns.at(-1)?.end?.error?.code], ['error', 'context_full']);
  assert.match(turns.at(-1)?.end?.error?.message ?? '', /110 tokens, context_max_tokens is 100, and no memory plugin/);
});

test('compaction at every position keeps the transcript whole: a summary of any length, results cleared at any place', async () => {
  const one = house([], {
    tools: [aTool('look', ({ n }: { n: number }) => `${n}`)],
    script: ({ userText, step }) =>
      step < seven.indexOf(userText) % 3
        ? {
            thinking: { text: 'hm', opaque: { scripted: { signature: 's' } } },
            actions: [1, 2].map((n) => ({ name: 'look', arguments: { n } })),
          }
        : { text: userText },
  });
  for (const text of seven) await one.ask(text);
  const talk = await one.fold();
  const actions = [...talk.turns].flatMap((turn) =>
    [...turn.iterations].flatMap((it) => it.actions.map(({ action }) => action.id)),
  );
  const target = { provider: 'scripted', model: 'scripted' };
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 7 }), fc.subarray(actions), (through, gone) => {
      const cut = {
        ...talk,
        summary: through === 0 ? undefined : { through, text: 'They spoke.' },
        cleared: new Set(gone),
      };
      const messages = transcript(cut, target);
      assert.deepEqual(brokenMessages(messages), []);
      const text = JSON.stringify(messages);
      for (const id of gone)
        assert.ok(!text.includes(`"id":"${id}"`) || text.includes(`context_read`) || text.includes('"cleared"'));
    }),
  );
});
