import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { agentOf, skill, use, withSkills, yaml } from './bundles.ts';

const root = yaml('{custom_root: skills}', '[{name: sums, kind: module, module: builtin/math}]');
const files = { 'skills/a/SKILL.md': skill('a'), 'skills/a/refs/more.md': 'More.', 'skills/b/SKILL.md': skill('b') };
const names = (agent: Awaited<ReturnType<typeof agentOf>>) => agent.tools.map(({ name }) => name);

test('a skill is loaded by its id or its name, with its text and its files', async () => {
  await withSkills(root, files, async (bundle) => {
    const agent = await agentOf(bundle);
    for (const named of ['public.a', 'a']) {
      const { value, skill: loaded } = (await use(bundle, agent, 'skills_load', { skill: named })) as Record<
        string,
        Record<string, unknown>
      >;
      assert.deepEqual(value, { skill: 'public.a', files: ['refs/more.md'], read_with: 'skills_read' });
      assert.equal(loaded?.['text'], 'Do a.');
    }
  });
});

test('B119 a name is looked up and never made into a path', async () => {
  await withSkills(root, files, async (bundle) => {
    const agent = await agentOf(bundle);
    for (const named of ['../a', '/etc/passwd', 'a\0', 'public', '__proto__', './a', 'skills/a', 'A']) {
      const result = (await use(bundle, agent, 'skills_load', { skill: named })) as { code: string };
      assert.equal(result.code, 'unknown_skill', named);
    }
  });
});

test('a file of a skill is read by its path in the skill, and nothing else is', async () => {
  const prepare = (folder: string): void => {
    writeFileSync(path.join(folder, 'secret.txt'), 'secret');
    mkdirSync(path.join(folder, 'skills/a/refs'), { recursive: true });
    symlinkSync(path.join(folder, 'secret.txt'), path.join(folder, 'skills/a/refs/link.txt'));
    symlinkSync(folder, path.join(folder, 'skills/a/up'));
  };
  await withSkills(
    root,
    { ...files, 'skills/a/refs/raw.bin': new Uint8Array([0xff, 0xfe, 0]) },
    async (bundle, folder) => {
      const agent = await agentOf(bundle);
      const read = (named: string) =>
        use(bundle, agent, 'skills_read', { skill: 'a', path: named }) as Promise<Record<string, unknown>>;
      assert.deepEqual((await read('refs/more.md'))['content'], [{ type: 'text', text: 'More.' }]);
      assert.equal(((await read('SKILL.md'))['value'] as { length: number }).length > 0, true);
      const wrong = [
        '../b/SKILL.md',
        '../../secret.txt',
        'refs/../../../secret.txt',
        path.join(folder, 'secret.txt'),
        'refs/link.txt',
        'up/secret.txt',
        'refs',
        'refs\\more.md',
        'C:\\x',
        'refs/more.md\0',
        'nothing.md',
        'refs/raw.bin',
        '.',
      ];
      for (const named of wrong) assert.equal((await read(named))['code'], 'unknown_file', named);
    },
    prepare,
  );
});

test('a skill that a user switched off is in no list, and cannot be loaded or read', async () => {
  await withSkills(root, files, async (bundle) => {
    const agent = await agentOf(bundle, { skills: ['public.a'] });
    assert.doesNotMatch(agent.gallery ?? '', /public\.a/);
    assert.deepEqual(
      agent.skills?.map(({ id }) => id),
      ['public.b'],
    );
    assert.deepEqual(agent.hiddenSkills, [{ name: 'public.a', why: 'switched off by the user' }]);
    for (const [tool, args] of [
      ['skills_load', {}],
      ['skills_read', { path: 'SKILL.md' }],
    ] as const) {
      const result = (await use(bundle, agent, tool, { skill: 'public.a', ...args })) as { kind: string };
      assert.equal(result.kind, 'failure');
    }
  });
});

test('the tools that read skills are there with the first skill, and cannot be switched off', async () => {
  await withSkills(root, files, async (bundle) => {
    assert.deepEqual(names(await agentOf(bundle, { tools: { skills: true } })), [
      'calculate',
      'skills_load',
      'skills_read',
    ]);
    const none = await agentOf(bundle, { skills: ['public.a', 'public.b'] });
    assert.deepEqual(names(none), ['calculate']);
    assert.doesNotMatch(none.gallery ?? '', /Skills/);
  });
});

test('a skill hides where a tool that it requires is missing, and says why', async () => {
  const needing = (tools: string) => skill('a', `metadata: {requires-tools: ${tools}}\n`);
  const hidden = (tools: string, disabled: object = {}) =>
    withSkills(
      root,
      { 'skills/a/SKILL.md': needing(tools) },
      async (bundle) => (await agentOf(bundle, disabled)).hiddenSkills,
    );
  assert.equal(await hidden('calculate'), undefined);
  assert.equal(await hidden('sums.calculate'), undefined);
  assert.deepEqual(await hidden('calculate', { tools: { sums: true } }), [
    { name: 'public.a', why: 'needs calculate, switched off by the user' },
  ]);
  assert.deepEqual(await hidden('calculate web_search'), [
    { name: 'public.a', why: 'needs web_search, which the agent does not have' },
  ]);
});

test('a KDCube skill requires the tools that its tools.yaml says it cannot do without', async () => {
  const tools = '- {id: sums.calculate, required: true}\n- {id: web.search, required: false}\n';
  await withSkills(root, { 'skills/a/SKILL.md': skill('a'), 'skills/a/tools.yaml': tools }, async (bundle) => {
    assert.equal((await agentOf(bundle)).hiddenSkills, undefined);
    assert.equal((await agentOf(bundle, { tools: { sums: ['calculate'] } })).hiddenSkills?.length, 1);
  });
});

test('B120 a list without room is marked, searched, and every skill of it loads', async () => {
  const many = Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, '0')}`);
  const long = 'x'.repeat(900);
  const all = Object.fromEntries(
    many.map((name) => [
      `skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: ${name} is for ${long}\n---\nDo ${name}.`,
    ]),
  );
  await withSkills(yaml('{custom_root: skills, gallery_chars: 800}'), all, async (bundle) => {
    const agent = await agentOf(bundle);
    assert.match(agent.gallery ?? '', /- and \d+ more: find them with skills_search$/);
    assert.ok((agent.gallery?.length ?? 0) < 1_200);
    assert.ok(names(agent).includes('skills_search'));
    const found = (await use(bundle, agent, 'skills_search', { words: 's19' })) as { skills: { skill: string }[] };
    assert.equal(found.skills[0]?.skill, 'public.s19');
    for (const name of many) {
      const { skill: loaded } = (await use(bundle, agent, 'skills_load', { skill: name })) as {
        skill: { text: string };
      };
      assert.equal(loaded.text, `Do ${name}.`);
    }
  });
});

test('a list with room is whole, and nothing searches it', async () => {
  await withSkills(root, files, async (bundle) => {
    const agent = await agentOf(bundle);
    assert.match(agent.gallery ?? '', /- public\.a: About a\.\n- public\.b: About b\.$/);
    assert.ok(!names(agent).includes('skills_search'));
  });
});
