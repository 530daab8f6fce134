import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/kernel/ports.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import { createHost, type HostOptions } from '../../src/platform/host.ts';
import type { OpenBundle } from '../../src/platform/open-bundle.ts';
import { ana } from '../runs/a-host.ts';
import { inFolder } from '../support/bundles.ts';

const yaml = (prompt: string, more = '') => `
id: app
config: { react: { main: { system_prompt: ${prompt} } } }
surfaces: { as_consumer: { agents: { main: { tools: [{ name: slow, kind: module, module: ./slow.js }] } } } }
models: { balanced: { provider: scripted, model: scripted } }
${more}
`;
const tool = (says: string) => `
export const wait = { name: 'wait', description: 'Waits.', effect: 'read', input: { type: 'object', properties: {} },
  run: async () => { await globalThis.treadleReload?.(); return '${says}'; } };
`;

interface Setting {
  readonly edit: (text: string, slow?: string) => void;
  readonly bundle: OpenBundle;
  /** Says something, waits for the answer, and gives what the model was shown first. */
  readonly turn: (
    text: string,
    id?: string,
  ) => Promise<{ readonly id: string; readonly requests: readonly ModelRequest[] }>;
  readonly lines: string[];
}

async function setting(
  script: Script,
  run: (setting: Setting) => Promise<void>,
  more: Partial<HostOptions> = {},
): Promise<void> {
  await inFolder(yaml('One.'), { 'slow.js': tool('first') }, async (file, folder) => {
    const requests: ModelRequest[] = [];
    const inner = createScriptedModel(script, { clock: systemClock });
    const models = {
      open: () => ({
        call: (...given: Parameters<typeof inner.call>) => (requests.push(given[0]), inner.call(...given)),
      }),
    };
    const lines: string[] = [];
    const said = (message: string): void => void lines.push(message);
    const logger: Logger = { debug: () => undefined, info: said, warn: said, error: said };
    const log = createMemoryLog({ clock: systemClock });
    const host = await createHost({ bundles: [file], log, secret: 's', environment: {}, models, logger, ...more });
    await host.start();
    const [bundle] = host.bundles;
    assert.ok(bundle !== undefined);
    try {
      await run({
        bundle,
        lines,
        edit(text, slow) {
          writeFileSync(file, text);
          if (slow !== undefined) writeFileSync(`${folder}/slow.js`, slow);
        },
        async turn(text, known) {
          const before = requests.length;
          const { run: begun } =
            known === undefined
              ? await host.runs.create(ana, { prompt: text })
              : await host.runs.say(ana, known, { content: text });
          const { id } = begun;
          for await (const _ of await host.runs.follow(ana, id, { until: 'ended' }));
          return { id, requests: requests.slice(before) };
        },
      });
    } finally {
      Reflect.deleteProperty(globalThis, 'treadleReload');
      await host.close({ drainMs: 100 });
    }
  });
}

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
  await setting(script, async ({ edit, bundle, turn }) => {
    let reloads = 0;
    Object.assign(globalThis, {
      async treadleReload() {
        if (reloads++ > 0) return;
        edit(yaml('Two.'), tool('second'));
        assert.equal(await bundle.reload(), 'new');
      },
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
    'has other gates',
    yaml('Two.', 'plugins: { gate.endless_loop: { max_iterations: 3 } }'),
    'an edited bundle needs a restart; turns go on with the one before',
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

test('a bundle that is watched is loaded when its file is saved', async () => {
  await setting(
    [{ text: 'Yes.' }],
    async ({ edit, bundle }) => {
      edit(yaml('Two.'));
      for (let tries = 0; bundle.loaded.agent('main').frame.systemPrompt !== 'Two.'; tries++) {
        assert.ok(tries < 100, 'nothing was loaded');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    { watch: true },
  );
});
