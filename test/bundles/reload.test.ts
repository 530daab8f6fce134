import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { definePlugin } from '../../src/kernel/plugin.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import { replay } from '../../src/platform/replay/replay.ts';
import { ana } from '../runs/a-host.ts';
import { silent } from '../support/house.ts';
import { setting, tool, yaml } from './reloading.ts';

test('an edit counts from the next turn on', async () => {
  await setting([{ text: 'Yes.' }], async ({ edit, bundle, turn, lines }) => {
    const { id } = await turn('hi');
    edit(yaml('Two.'));
    assert.equal(await bundle.reload(), 'new');
    const { requests } = await turn('again', id);
    assert.equal(requests[0]?.instructions, 'Two.');
    assert.ok(lines.includes('an edited bundle counts from the next turn on'));
  });
});

test('a turn that runs when the bundle is edited ends as it began, with its own tools', async () => {
  const script: Script = ({ step }) => (step < 2 ? { actions: [{ name: 'wait' }] } : { text: 'Done.' });
  await setting(script, async ({ edit, bundle, turn, meanwhile }) => {
    meanwhile(async () => {
      edit(yaml('Two.'), { 'slow.js': tool('second') });
      assert.equal(await bundle.reload(), 'new');
    });
    const results = ({ messages }: ModelRequest) =>
      messages.flatMap((message) =>
        message.role === 'tool' ? message.results.map(({ observation }) => observation.value) : [],
      );
    const first = await turn('go');
    assert.deepEqual(
      first.requests.map(({ instructions }) => instructions),
      ['One.', 'One.', 'One.'],
    );
    assert.deepEqual(results(first.requests[2] ?? assert.fail()), ['first', 'first']);
    const second = await turn('go', first.id);
    assert.equal(second.requests[0]?.instructions, 'Two.');
    assert.deepEqual(results(second.requests[2] ?? assert.fail()).slice(2), ['second', 'second']);
  });
});

const wrong: readonly (readonly [about: string, text: string, line: string])[] = [
  ['is no YAML', 'id: [', 'an edited bundle is wrong; turns go on with the one before'],
  [
    'names a tool that is not there',
    yaml('Two.').replace('./slow.js', './gone.js'),
    'an edited bundle is wrong; turns go on with the one before',
  ],
  [
    'has another id',
    yaml('Two.').replace('id: app', 'id: other'),
    'an edited bundle needs a restart; turns go on with the one before',
  ],
  [
    'sets a plugin up as it cannot be',
    yaml('Two.', 'plugins: { gate.policy: { rules: [{ tool: "(" , match: "(", action: deny }] } }'),
    'an edited bundle is wrong; turns go on with the one before',
  ],
];
for (const [about, text, line] of wrong) {
  test(`an edited bundle that ${about} leaves the one before, and a line says so`, async () => {
    await setting([{ text: 'Yes.' }], async ({ edit, bundle, turn, lines }) => {
      edit(text);
      assert.equal(await bundle.reload(), 'kept');
      assert.ok(lines.includes(line));
      assert.equal((await turn('hi')).requests[0]?.instructions, 'One.');
    });
  });
}

test('an edit that changes nothing but a comment is none', async () => {
  await setting([{ text: 'Yes.' }], async ({ edit, bundle }) => {
    edit(`# A remark.\n${yaml('One.')}`);
    assert.equal(await bundle.reload(), 'same');
  });
});

test('what is wrong with an edit is told with the agent, until it is mended', async () => {
  await setting([{ text: 'Yes.' }], async ({ edit, bundle, host }) => {
    edit(yaml('Two.').replace('./slow.js', './gone.js'));
    await bundle.reload();
    const said = [host.agents()[0]?.refusedEdit?.kind, bundle.refusedEdit?.why.includes('gone.js')];
    edit(yaml('Two.'));
    await bundle.reload();
    assert.deepEqual([said, host.agents()[0]?.refusedEdit], [['wrong', true], undefined]);
  });
});

test('an edit that needs a restart says what to do', async () => {
  await setting([{ text: 'Yes.' }], async ({ edit, bundle }) => {
    edit(yaml('Two.').replace('id: app', 'id: other'));
    await bundle.reload();
    const { kind, hint } = bundle.refusedEdit ?? assert.fail();
    assert.deepEqual([kind, /write id: app again, or restart/.test(hint)], ['restart', true]);
  });
});

const script: Script = ({ step, userText }) =>
  userText === 'go' && step === 0 ? { actions: [{ name: 'wait' }] } : { text: 'Done.' };
const noWait = 'plugins: { active: [gate.tool_filter], gate.tool_filter: { deny: [wait] } }';
const outcomes = async (facts: Promise<readonly { outcome: string }[]>) => (await facts).map(({ outcome }) => outcome);

test('a gate that an edit brings judges the next turn', async () => {
  await setting(script, async ({ edit, bundle, turn, facts }) => {
    const { id } = await turn('go');
    edit(yaml('One.', noWait));
    assert.equal(await bundle.reload(), 'new');
    await turn('go', id);
    assert.deepEqual(await outcomes(facts(id, 'tool.result')), ['ok', 'refused']);
    assert.ok(bundle.manifests.some((one) => one.id === 'gate.tool_filter'));
  });
});

test('a gate that an edit takes away judges no turn that begins then', async () => {
  const text = yaml('One.', noWait);
  await setting(
    script,
    async ({ edit, bundle, turn, facts }) => {
      const { id } = await turn('go');
      edit(yaml('One.'));
      await bundle.reload();
      await turn('go', id);
      assert.deepEqual(await outcomes(facts(id, 'tool.result')), ['refused', 'ok']);
    },
    { text },
  );
});

test('a turn at work is judged to its end by the gates that it began with', async () => {
  const twice: Script = ({ step }) => (step < 2 ? { actions: [{ name: 'wait' }] } : { text: 'Done.' });
  await setting(twice, async ({ edit, bundle, turn, facts, meanwhile }) => {
    meanwhile(async () => {
      edit(yaml('Two.', noWait));
      assert.equal(await bundle.reload(), 'new');
    });
    const { id } = await turn('go');
    assert.deepEqual(await outcomes(facts(id, 'tool.result')), ['ok', 'ok']);
  });
});

test('what an edit takes away is taken down when the last turn has left it, and what it keeps is not begun anew', async () => {
  const told: string[] = [];
  const counting = definePlugin({
    id: 'observer.counting',
    about: 'Says when it comes and goes.',
    config: z.strictObject({ name: z.string() }),
    setup(_, { name }) {
      told.push(`${name} comes`);
      return () => void told.push(`${name} goes`);
    },
  });
  const named = (name: string) => `plugins: { active: [observer.counting], observer.counting: { name: ${name} } }`;
  await setting(
    script,
    async ({ edit, bundle, turn, meanwhile }) => {
      edit(yaml('Two.', named('a')));
      await bundle.reload();
      meanwhile(async () => {
        edit(yaml('Three.', named('b')));
        await bundle.reload();
        told.push('the turn works');
      });
      await turn('go');
    },
    { text: yaml('One.', named('a')), plugins: [counting] },
  );
  assert.deepEqual(told, ['a comes', 'b comes', 'the turn works', 'a goes', 'b goes']);
});

test('a turn that begins where another one ends begins under the edited bundle', async () => {
  await setting(script, async ({ edit, bundle, turn, facts, log, meanwhile }) => {
    meanwhile(async () => {
      edit(yaml('Two.', noWait));
      await bundle.reload();
    });
    const more = { type: 'io.input', payload: { text: 'go', mode: 'message', userId: 'ana' }, key: 'more' } as const;
    bundle.bus.on('agent.turn.end', ({ conversationId }) => void log.post(conversationId, more));
    const { id } = await turn('go');
    assert.deepEqual(await outcomes(facts(id, 'tool.result')), ['ok', 'refused']);
    assert.equal((await facts(id, 'agent.turn.start')).length, 2);
  });
});

test('a plugin that no edit touches remembers what it knew', async () => {
  const limited =
    'plugins: { active: [gate.rate_limiter], gate.rate_limiter: { calls: 1, per_ms: 600000, mode: reject } }';
  const text = yaml('One.', limited);
  await setting(
    [{ text: 'Done.' }],
    async ({ edit, bundle, turn, facts }) => {
      const { id } = await turn('hi');
      edit(yaml('Two.', limited));
      assert.equal(await bundle.reload(), 'new');
      await turn('hi', id);
      assert.equal((await facts(id, 'gate.verdict')).at(-1)?.gate, 'gate.rate_limiter');
    },
    { text },
  );
});

const two = yaml('One.')
  .replace('main: { tools:', 'main: {}, other: { tools:')
  .replace('react: { main:', 'react: { other: { system_prompt: Other. }, main:');

test('an agent that an edit brings can be talked to', async () => {
  await setting([{ text: 'Done.' }], async ({ edit, bundle, host, turn }) => {
    edit(two);
    assert.equal(await bundle.reload(), 'new');
    assert.deepEqual(
      host.agents().map(({ name }) => name),
      ['main', 'other'],
    );
    assert.equal((await turn('hi', undefined, 'other')).requests[0]?.instructions, 'Other.');
  });
});

test('a run of an agent that an edit took away says so when it is spoken to', async () => {
  await setting(
    [{ text: 'Done.' }],
    async ({ edit, bundle, host, turn, facts }) => {
      const { id } = await turn('hi', undefined, 'other');
      edit(yaml('One.'));
      assert.equal(await bundle.reload(), 'new');
      await turn('hi', id);
      const end = (await facts(id, 'agent.turn.end')).at(-1);
      assert.deepEqual([end?.status, end?.error?.code], ['error', 'bundle_unknown_name']);
      await assert.rejects(host.runs.create(ana, { prompt: 'hi', agent: 'other' }), { code: 'agent_unknown' });
    },
    { text: two },
  );
});

const asks = (text: string): string =>
  text.replace('./slow.js }', './slow.js, tool_traits: { wait: { approval: ask } } }');
/** A run of `agent` that waits for a yes. */
const held = async (
  { turn, facts }: Pick<Parameters<Parameters<typeof setting>[1]>[0], 'turn' | 'facts'>,
  agent = 'main',
) => {
  const { id } = await turn('go', undefined, agent);
  const [asked = assert.fail()] = await facts(id, 'hitl.requested');
  const { request, argumentHash = '' } = asked;
  return { id, answer: { request, decision: 'allow', digest: argumentHash } as const };
};

test('a run that waits goes on under the edited bundle, and its log says so', async () => {
  await setting(
    script,
    async (all) => {
      const { id, answer } = await held(all);
      all.edit(asks(yaml('Two.')), { 'slow.js': tool('second') });
      await all.bundle.reload();
      await all.host.runs.answer(ana, id, [answer]);
      await all.settled(id);
      assert.equal((await all.facts(id, 'tool.result'))[0]?.value, 'second');
      const resumed = (await all.facts(id, 'agent.turn.start')).find((one) => one.resumed === true);
      assert.equal(resumed?.revision, all.bundle.loaded.revision);
    },
    { text: asks(yaml('One.')) },
  );
});

test('a yes to a tool that an edit took away runs nothing and says why, and a replay tells the model the same', async () => {
  await setting(
    script,
    async (all) => {
      const { id, answer } = await held(all);
      all.edit(yaml('Two.').replace('./slow.js', './other.js'), {
        'other.js': tool('other').replaceAll(/wait(?= =|')/g, 'rest'),
      });
      assert.equal(await all.bundle.reload(), 'new');
      await all.host.runs.answer(ana, id, [answer]);
      await all.settled(id);
      const [result] = await all.facts(id, 'tool.result');
      assert.deepEqual([result?.outcome, result?.error?.code], ['failed', 'taken_out']);
      assert.match(result?.error?.message ?? '', /wait was taken out of the bundle/);
      const row = await all.log.find(id);
      const report = await replay(row ?? assert.fail(), await all.log.read(id, 0, 1_000), { logger: silent });
      assert.ok(report.calls.length === 2 && report.calls.every(({ same }) => same));
    },
    { text: asks(yaml('One.')) },
  );
});

test('a yes that a gate of the edited bundle forbids runs nothing', async () => {
  await setting(
    script,
    async (all) => {
      const { id, answer } = await held(all);
      all.edit(asks(yaml('Two.', noWait)));
      await all.bundle.reload();
      await all.host.runs.answer(ana, id, [answer]);
      await all.settled(id);
      assert.deepEqual(await outcomes(all.facts(id, 'tool.result')), ['refused']);
    },
    { text: asks(yaml('One.')) },
  );
});

test('a run that waits for an agent that an edit took away ends when it is answered, and says why', async () => {
  await setting(
    script,
    async (all) => {
      const { id, answer } = await held(all, 'other');
      all.edit(yaml('One.'));
      await all.bundle.reload();
      await all.host.runs.answer(ana, id, [answer]);
      await all.settled(id);
      const end = (await all.facts(id, 'agent.turn.end')).at(-1);
      assert.deepEqual([end?.status, end?.error?.code], ['error', 'bundle_unknown_name']);
      assert.deepEqual(await outcomes(all.facts(id, 'tool.result')), ['cancelled']);
    },
    { text: asks(two) },
  );
});

const scripted = (name: string): string => yaml('One.').replace('model: scripted }', `script: ./${name} }`);

for (const [about, name, says] of [
  ['an edited script', 'script.json', (text: string) => JSON.stringify({ replies: [{ text }], repeat: true })],
  [
    'an edited script that is a module',
    'script.js',
    (text: string) => `export const script = () => ({ text: '${text}' });`,
  ],
] as const) {
  test(`${about} speaks from the next turn on`, async () => {
    await setting(
      [{ text: 'Unheard.' }],
      async ({ edit, bundle, turn, facts }) => {
        const { id } = await turn('hi');
        edit(scripted(name), { [name]: says('Second.') });
        assert.equal(await bundle.reload(), 'new');
        await turn('hi', id);
        assert.deepEqual(
          (await facts(id, 'io.output')).map(({ text }) => text),
          ['First.', 'Second.'],
        );
      },
      { text: scripted(name), files: { [name]: says('First.') }, ownModels: true },
    );
  });
}

test('an edit of a file that a tool module imports is an edit of the bundle', async () => {
  const importing = tool('x')
    .replace(`return 'x'`, 'return word')
    .replace('export', `import { word } from './word.js';\nexport`);
  const word = (text: string) => `export { text as word } from './text.js'; globalThis.treadleText = '${text}';`;
  const text = (said: string) => `export const text = '${said}';`;
  await setting(
    script,
    async ({ edit, bundle, turn, facts }) => {
      const { id } = await turn('go');
      edit(yaml('One.'), { 'text.js': text('second') });
      assert.equal(await bundle.reload(), 'new');
      await turn('go', id);
      assert.deepEqual(
        (await facts(id, 'tool.result')).map(({ value }) => value),
        ['first', 'second'],
      );
      assert.ok(bundle.loaded.files.some((file) => file.endsWith('text.js')));
      Reflect.deleteProperty(globalThis, 'treadleText');
    },
    { files: { 'slow.js': importing, 'word.js': word('a'), 'text.js': text('first') } },
  );
});

test('a module that could not be imported is imported once it can', async () => {
  await setting(script, async ({ edit, bundle }) => {
    edit(yaml('Two.'), { 'slow.js': `import './missing.js';\n${tool('second')}` });
    assert.equal(await bundle.reload(), 'kept');
    edit(yaml('Two.'), { 'missing.js': '' });
    assert.equal(await bundle.reload(), 'new');
  });
});
