import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import type { SelectionPatch } from '../../src/domain/selection-patch.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { createMemorySelections } from '../../src/adapters/stores/control/selections.ts';
import type { SelectionStore } from '../../src/kernel/choices.ts';
import type { Host } from '../../src/platform/hosting/host.ts';
import type { ChangeRequest } from '../../src/platform/selections/planned-change.ts';
import { cachedModels, type CachedModels } from '../support/cached-model.ts';
import { ana, aCaller, withHost, type HostFixture } from './a-host.ts';

const bundle = (cache = '') => `
id: post
config:
  react:
    main:
      system_prompt: "${'You are patient. '.repeat(400)}"
      supported_models:
        - { provider: anthropic, model: claude-sonnet-4-6, label: Sonnet }
        - { provider: anthropic, model: claude-haiku-4-5, label: Haiku }
        - { provider: anthropic, model: claude-sonnet-4-5, label: Sonnet 4.5 }
      ${cache}
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: io, kind: module, module: builtin/io }
          - { name: post, kind: module, module: ./post.tool.js }
models:
  balanced: { provider: anthropic, model: claude-sonnet-4-6 }
`;

const lookOff = { disabled: { tools: { post: ['look'] } } };
const haiku = { model: { provider: 'anthropic', model: 'claude-haiku-4-5' } };
const looking: Script = ({ step }) => (step === 0 ? { actions: [{ name: 'look' }] } : { text: 'Done.' });

interface Fixture extends HostFixture {
  readonly models: CachedModels;
  readonly pass: (minutes: number) => void;
  /** Says something and waits for the answer. */
  readonly talk: (text: string, id?: string, userId?: string) => Promise<string>;
  readonly update: (request: ChangeRequest, userId?: string) => ReturnType<Host['selections']['update']>;
}

/** The system's clock, which can be put forward: what is due by then rings at once. */
function passingClock(): { readonly clock: Clock; readonly pass: (minutes: number) => void } {
  let passed = 0;
  const alarms = new Map<() => void, number>();
  const now = (): number => systemClock.now() + passed;
  return {
    clock: {
      now,
      after(ms, callback) {
        const ring = (): void => {
          off();
          if (alarms.delete(ring)) callback();
        };
        const off = systemClock.after(ms, ring);
        alarms.set(ring, now() + ms);
        return () => {
          off();
          alarms.delete(ring);
        };
      },
    },
    pass(minutes) {
      passed += minutes * 60_000;
      for (const [ring, at] of [...alarms]) if (at <= now()) ring();
    },
  };
}

async function setting(
  options: { readonly cache?: string; readonly store?: SelectionStore; readonly script?: Script },
  run: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const { clock, pass } = passingClock();
  const models = cachedModels(options.script ?? looking, clock);
  const selections = options.store ?? createMemorySelections();
  await withHost({ bundle: bundle(options.cache), clock, models, selections }, (fixture) =>
    run({
      ...fixture,
      models,
      pass,
      async talk(text, id, userId = 'ana') {
        const caller = aCaller({ userId });
        const made =
          id === undefined
            ? await fixture.host.runs.create(caller, { prompt: text })
            : await fixture.host.runs.say(caller, id, { content: text });
        const turns = (made.run.usage as { turns?: number }).turns ?? 0;
        await fixture.until(made.run.id, ({ status, terminal }) => terminal && status === 'completed' && turns >= 0);
        return made.run.id;
      },
      update: (request, userId = 'ana') => fixture.host.selections.update(aCaller({ userId }), 'main', request),
    }),
  );
}

async function refused(work: Promise<unknown>): Promise<TreadleError> {
  try {
    await work;
  } catch (error) {
    if (TreadleError.is(error)) return error;
    throw error;
  }
  return assert.fail('nothing was refused');
}

test('a refusal says in words what the change costs, and until when to wait for nothing', async () => {
  await setting({}, async ({ talk, update }) => {
    const id = await talk('hi');
    const { message } = await refused(update({ patch: lookOff, conversation: id }));
    assert.match(
      message,
      /rebuilds \d+ cached tokens, for about \$0\.00\d, .*defer_cold is free: the cache is cold after 20/,
    );
  });
});

test('a change of tools and of the model in one is paid at the price of the other model', async () => {
  await setting({}, async ({ talk, host }) => {
    const id = await talk('hi');
    const costOf = async (patch: SelectionPatch) =>
      (await host.selections.consequence(ana, 'main', { patch, conversation: id })).parts
        .filter(({ consequence }) => consequence.kind !== 'free')
        .map((part) => [part.class, part.consequence.money?.rebuild]);
    assert.deepEqual(await costOf({ ...lookOff, ...haiku }), await costOf(haiku));
  });
});

test('a user is told the price before a warm prompt is made cold, and only then may say yes', async () => {
  await setting({}, async ({ talk, update, host, models }) => {
    const id = await talk('hi');
    const before = (await host.selections.capabilities(ana, 'main', { conversation: id })).consequences ?? [];
    const refusal = await refused(update({ patch: lookOff, conversation: id }));
    assert.equal(refusal.code, 'confirmation_required');
    const [part] = (refusal.detail.data?.['parts'] ?? []) as {
      consequence: { tokens: number; money: { rebuild: string } };
    }[];
    assert.ok((part?.consequence.tokens ?? 0) > 1_500);
    assert.match(part?.consequence.money.rebuild ?? '', /^0\.00\d+$/);
    assert.equal(before[0]?.consequence.tokens, part?.consequence.tokens);
    const reply = await update({ patch: lookOff, conversation: id, decision: 'accept' });
    assert.deepEqual([reply.selection.disabled.tools, reply.parts[0]?.done], [{ post: ['look'] }, 'applied']);
    await talk('again', id);
    assert.deepEqual(
      models.requests.at(-1)?.tools.map(({ name }) => name),
      ['mail', 'tool_call'],
    );
  });
});

test('what was switched off cannot be called, and another user is untouched', async () => {
  await setting({}, async ({ talk, update, host }) => {
    await update({ patch: lookOff });
    const [mine, hers] = [await talk('go'), await talk('go', undefined, 'bo')];
    const outcomes = async (id: string, userId: string): Promise<string[]> => {
      const { facts } = await host.runs.log(aCaller({ userId }), id, {});
      return facts.flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload.outcome] : []));
    };
    assert.deepEqual([await outcomes(mine, 'ana'), await outcomes(hers, 'bo')], [['refused'], ['ok']]);
  });
});

test('the log names the change that made a prompt cold, and what it cost', async () => {
  await setting({}, async ({ talk, update, host }) => {
    const id = await talk('hi');
    const { parts } = await update({ patch: lookOff, conversation: id, decision: 'accept' });
    await talk('again', id);
    const { facts } = await host.runs.log(ana, id, {});
    const cold = facts.flatMap((fact) => (fact.type === 'cache.cold' ? [fact.payload] : []));
    assert.deepEqual(
      cold.map(({ cause, section, change, predicted }) => [cause, section, change, predicted]),
      [['ours', 'tools', 'selection', parts[0]?.consequence.tokens]],
    );
  });
});

test('the prompt of a call shows what of it was read from the cache, and which change made it cold', async () => {
  await setting({}, async ({ talk, update, host }) => {
    const id = await talk('hi');
    await update({ patch: lookOff, conversation: id, decision: 'accept' });
    await talk('again', id);
    const shown = async (iteration: number, turn: number) => {
      const { sections, cache } = await host.runs.prompt(ana, id, { iteration, turn });
      const reads = Object.fromEntries(
        sections.flatMap(({ name, read }) => (read === undefined ? [] : [[name, read]])),
      );
      return [reads['tools'], reads['instructions'], reads['announce'], cache.cold?.section, cache.cold?.change];
    };
    assert.deepEqual(await shown(2, 1), ['yes', 'yes', 'no', undefined, undefined]);
    assert.deepEqual(await shown(1, 2), ['no', 'no', 'no', 'tools', 'selection']);
  });
});

test('a change that waits for the cache to be cold is visible, and counts once it is free', async () => {
  await setting({}, async ({ talk, update, host, models, pass }) => {
    const id = await talk('hi');
    const reply = await update({ patch: haiku, conversation: id, decision: 'defer_cold' });
    assert.deepEqual([reply.selection.model, reply.pending.map(({ apply }) => apply)], [undefined, ['when_cold']]);
    await talk('still warm', id);
    assert.equal(models.requests.at(-1)?.model.model, 'claude-sonnet-4-6');
    pass(10);
    await talk('cold by now', id);
    assert.equal(models.requests.at(-1)?.model.model, 'claude-haiku-4-5');
    await talk('warm again, and it stays', id);
    assert.equal(models.requests.at(-1)?.model.model, 'claude-haiku-4-5');
    const { selection, pending } = await host.selections.capabilities(ana, 'main', { conversation: id });
    assert.deepEqual([selection.model, pending], [haiku.model, []]);
  });
});

test('a change that waits for the next conversation leaves this one and counts in the next', async () => {
  await setting({}, async ({ talk, update, models, pass }) => {
    const id = await talk('hi');
    await update({ patch: haiku, conversation: id, decision: 'defer_conversation' });
    await talk('the same', id);
    assert.equal(models.requests.at(-1)?.model.model, 'claude-sonnet-4-6');
    pass(1);
    await talk('a new one');
    assert.equal(models.requests.at(-1)?.model.model, 'claude-haiku-4-5');
  });
});

const policies: readonly (readonly [policy: string, isWarm: boolean, done: string])[] = [
  ['accept', true, 'applied'],
  ['accept', false, 'applied'],
  ['confirm', true, 'confirmation_required'],
  ['confirm', false, 'applied'],
  ['defer_cold', true, 'when_cold'],
  ['defer_cold', false, 'applied'],
  ['defer_conversation', true, 'next_conversation'],
  ['defer_conversation', false, 'applied'],
];
for (const [policy, isWarm, done] of policies) {
  for (const patch of [lookOff, haiku]) {
    test(`under ${policy}, ${JSON.stringify(patch)} in a ${isWarm ? 'warm' : 'cold'} conversation comes to ${done}`, async () => {
      await setting(
        { cache: `cache: { selection_change_policy: { default: ${policy} } }` },
        async ({ talk, update, pass }) => {
          const id = await talk('hi');
          if (!isWarm) pass(10);
          const came = await update({ patch, conversation: id }).then(
            ({ parts }) => parts[0]?.done,
            (error: unknown) => (TreadleError.is(error) ? error.code : String(error)),
          );
          assert.equal(came, done);
        },
      );
    });
  }
}

test('a conversation without turns is asked nothing', async () => {
  await setting({}, async ({ update }) => {
    const { parts } = await update({ patch: { ...lookOff, ...haiku } });
    assert.deepEqual(
      parts.map(({ done, consequence }) => [done, consequence.kind]),
      [
        ['applied', 'free'],
        ['applied', 'free'],
      ],
    );
  });
});

test("a change of the user's own record is priced over all warm conversations that it reaches", async () => {
  await setting({}, async ({ talk, update }) => {
    const ids = [await talk('one'), await talk('two')];
    const one = await refused(update({ patch: lookOff, conversation: ids[0] }));
    const all = await refused(update({ patch: lookOff }));
    const tokens = (error: TreadleError) =>
      (error.detail.data?.['parts'] as { consequence: { tokens: number } }[])[0]?.consequence.tokens ?? 0;
    assert.equal(tokens(all), 2 * tokens(one));
  });
});

test('a second change that comes before the next turn costs nothing more, and taking it back is free', async () => {
  await setting({}, async ({ talk, update }) => {
    const id = await talk('hi');
    await update({ patch: lookOff, conversation: id, decision: 'accept' });
    const again = await update({ patch: { disabled: { tools: { post: true } } }, conversation: id });
    const back = await update({ patch: { disabled: { tools: { post: false } } }, conversation: id });
    assert.deepEqual(
      [again, back].map(({ parts }) => parts[0]?.consequence.kind),
      ['free', 'free'],
    );
  });
});

test('the operator bounds how often a user makes prompts cold, and says when there is another', async () => {
  await setting({ cache: 'cache: { cold_turns_per_hour: 1 }' }, async ({ talk, update, pass }) => {
    const id = await talk('hi');
    await update({
      patch: { model: { provider: 'anthropic', model: 'claude-sonnet-4-5' } },
      conversation: id,
      decision: 'accept',
    });
    await talk('again', id);
    const refusal = await refused(update({ patch: lookOff, conversation: id, decision: 'accept' }));
    assert.equal(refusal.code, 'cold_turns_exhausted');
    assert.ok(Number(refusal.detail.data?.['retryAfterMs']) > 3_500_000);
    const { parts } = await update({ patch: lookOff, conversation: id, decision: 'defer_cold' });
    assert.equal(parts[0]?.done, 'when_cold');
    pass(61);
    await talk('and again', id);
    await update({ patch: { model: null }, conversation: id, decision: 'accept' });
  });
});

test('a decision that the operator does not allow is refused', async () => {
  const cache = 'cache: { selection_change_policy: { default: defer_cold, allowed: [defer_cold] } }';
  await setting({ cache }, async ({ talk, update }) => {
    const id = await talk('hi');
    const { code } = await refused(update({ patch: lookOff, conversation: id, decision: 'accept' }));
    assert.equal(code, 'invalid_request');
  });
});

test('of many writers at once none is lost', async () => {
  const inner = createMemorySelections();
  const slow: SelectionStore = {
    readSelection: async (key) => (await new Promise((resolve) => setImmediate(resolve)), inner.readSelection(key)),
    writeSelection: async (key, value, expected) => (
      await new Promise((resolve) => setImmediate(resolve)),
      inner.writeSelection(key, value, expected)
    ),
  };
  await setting({ store: slow }, async ({ update, host }) => {
    await Promise.all([
      update({ patch: { disabled: { tools: { post: ['mail'] } } } }),
      update({ patch: haiku }),
      update({ patch: { cache_policy: { model_switch: 'accept' } } }),
    ]);
    const { selection } = await host.selections.capabilities(ana, 'main');
    assert.deepEqual(
      [selection.disabled.tools, selection.model, selection.cache_policy],
      [{ post: ['mail'] }, haiku.model, { model_switch: 'accept' }],
    );
  });
});

test('what an update drops is returned, and nothing of it is stored', async () => {
  await setting({}, async ({ update }) => {
    const { dropped, selection } = await update({
      patch: { disabled: { tools: { io: true, gmail: true, post: ['gone', 'look'] } } },
    });
    assert.deepEqual(
      dropped.map(({ path }) => path),
      ['disabled.tools.io', 'disabled.tools.gmail', 'disabled.tools.post.gone'],
    );
    assert.deepEqual(selection.disabled.tools, { post: ['look'] });
  });
});

test('a conversation of somebody else is unknown, and so is one of another agent', async () => {
  await setting({}, async ({ talk, update, host }) => {
    const id = await talk('hi', undefined, 'bo');
    assert.equal((await refused(update({ patch: lookOff, conversation: id }))).code, 'run_unknown');
    assert.equal(
      (await refused(host.selections.capabilities(ana, 'main', { conversation: 'run_none' }))).code,
      'run_unknown',
    );
    assert.equal((await refused(host.selections.capabilities(ana, 'mian'))).code, 'agent_unknown');
  });
});

test('reading the menu writes nothing', async () => {
  const inner = createMemorySelections();
  let writes = 0;
  const store: SelectionStore = { ...inner, writeSelection: (...given) => (writes++, inner.writeSelection(...given)) };
  await setting({ store }, async ({ talk, host }) => {
    const id = await talk('hi');
    await host.selections.capabilities(ana, 'main', { conversation: id });
    assert.equal(writes, 0);
  });
});

test('a store that is down refuses a change and no turn', async () => {
  let isDown = false;
  const inner = createMemorySelections();
  const store: SelectionStore = {
    readSelection: (key) => (isDown ? Promise.reject(new Error('disk on fire')) : inner.readSelection(key)),
    writeSelection: (...given) => inner.writeSelection(...given),
  };
  await setting({ store }, async ({ talk, update, host, models }) => {
    await update({ patch: lookOff });
    const id = await talk('hi');
    isDown = true;
    assert.equal((await refused(update({ patch: haiku }))).code, 'selection_unavailable');
    await talk('again', id);
    assert.deepEqual(
      models.requests.at(-1)?.tools.map(({ name }) => name),
      ['mail', 'tool_call'],
    );
    const { facts } = await host.runs.log(ana, id, {});
    const ignored = facts.flatMap((fact) => (fact.type === 'selection.ignored' ? [fact.payload.why] : []));
    assert.deepEqual(ignored, ['The store failed; the selection that this conversation last used counts.']);
  });
});

test('to begin anew switches on whatever is not named', async () => {
  await setting({}, async ({ update }) => {
    await update({ patch: { ...lookOff, ...haiku } });
    const { selection } = await update({ patch: { disabled: { tools: { post: ['mail'] } } }, replace: true });
    assert.deepEqual([selection.disabled.tools, selection.model], [{ post: ['mail'] }, undefined]);
  });
});

test('over twenty rounds the cached head of the prompt is the same bytes, whatever time and budget say', async () => {
  await setting({}, async ({ talk, models, pass }) => {
    let id: string | undefined;
    for (let round = 0; round < 20; round++) {
      id = await talk(`round ${round}`, id);
      pass(round % 3);
    }
    assert.ok(models.requests.length >= 20);
    const heads = new Set(
      models.requests.map(({ instructions, gallery, tools }) => JSON.stringify([instructions, gallery, tools])),
    );
    assert.equal(heads.size, 1);
  });
});
