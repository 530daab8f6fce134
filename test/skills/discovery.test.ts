import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { noticesOf, problemsOf } from '../support/bundles.ts';
import { agentOf, skill, withSkills, yaml } from './bundles.ts';

const ids = async (text: string, files: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  withSkills(text, files, async (bundle) => ((await agentOf(bundle)).skills ?? []).map(({ id }) => id));

test('each folder with a SKILL.md is a skill, in the order of the ids, also a level deeper', async () => {
  const files = {
    'skills/notes/SKILL.md': skill('notes'),
    'skills/legal/contracts/SKILL.md': skill('contracts'),
    'skills/.git/hidden/SKILL.md': skill('hidden'),
    'skills/readme.md': 'not a skill',
  };
  assert.deepEqual(await ids(yaml('{custom_root: skills}'), files), ['legal.contracts', 'public.notes']);
});

test('what is wrong with a skill is told, and costs that skill alone', async () => {
  const files = {
    'skills/good/SKILL.md': skill('good'),
    'skills/plain/SKILL.md': 'Just text.',
    'skills/nameless/SKILL.md': '---\ndescription: x\n---\n',
    'skills/silent/SKILL.md': '---\nname: silent\n---\n',
    'skills/Upper/SKILL.md': '---\nname: Upper\ndescription: x\n---\n',
    'skills/path/SKILL.md': '---\nname: ../../etc/x\ndescription: x\n---\n',
    'skills/broken/SKILL.md': '---\nname: [broken\n---\n',
    'skills/other/SKILL.md': skill('another'),
    'skills/more/SKILL.md': skill('more', 'colour: red\n'),
  };
  await withSkills(yaml('{custom_root: skills}'), files, async (bundle) => {
    const { skills } = await agentOf(bundle);
    assert.deepEqual(
      skills?.map(({ id }) => id),
      ['public.another', 'public.good', 'public.more'],
    );
    const told = noticesOf(bundle).join('\n');
    for (const expected of [
      /"plain": it does not begin with front matter/,
      /"nameless": it has no name/,
      /"silent": it has no description/,
      /"Upper": its name "Upper" is not at most 64 lower-case letters/,
      /"path": its name "\.\.\/\.\.\/etc\/x" is not/,
      /"broken": its front matter is not YAML/,
      /"other": its name another is not the name of its folder/,
      /"more": the format has no colour/,
    ]) {
      assert.match(told, expected);
    }
    assert.doesNotMatch(told, /"good"/);
  });
});

test('B119 nothing is followed out of the folder of the skills', async () => {
  const outside = (folder: string): void => {
    mkdirSync(path.join(folder, 'elsewhere/secret'), { recursive: true });
    writeFileSync(path.join(folder, 'elsewhere/secret/SKILL.md'), skill('secret'));
    mkdirSync(path.join(folder, 'skills/inner'), { recursive: true });
    symlinkSync(path.join(folder, 'elsewhere/secret'), path.join(folder, 'skills/secret'));
    symlinkSync(path.join(folder, 'elsewhere/secret/SKILL.md'), path.join(folder, 'skills/inner/SKILL.md'));
  };
  await withSkills(
    yaml('{custom_root: skills}'),
    { 'skills/good/SKILL.md': skill('good') },
    async (bundle) => {
      assert.deepEqual(
        (await agentOf(bundle)).skills?.map(({ id }) => id),
        ['public.good'],
      );
      assert.match(noticesOf(bundle).join('\n'), /"secret": it leads out of the folder/);
      assert.match(noticesOf(bundle).join('\n'), /"inner": its SKILL\.md leads out of the folder/);
    },
    outside,
  );
});

test('a folder of skills has to be in the folder of the bundle', async () => {
  assert.match(
    await problemsOf(yaml('{custom_root: /tmp}')),
    /custom_root: found "\/tmp", wanted a folder in the folder of the bundle/,
  );
  assert.match(await problemsOf(yaml('{custom_root: ..}')), /custom_root: found "\.\."/);
});

test('skills that come with Treadle are granted by name', async () => {
  assert.deepEqual(await ids(yaml('{shipped: [writing-bundles]}'), {}), ['public.writing-bundles']);
  assert.match(
    await problemsOf(yaml('{shipped: [writing-bundle]}')),
    /no skill "writing-bundle" comes with Treadle; did you mean writing-bundles/,
  );
});

test('a consumer sees what is enabled for it, less what is disabled for it or for all', async () => {
  const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`skills/${name}/SKILL.md`, skill(name)]));
  const seen = (consumers: string) => ids(yaml(`{custom_root: skills, consumers: ${consumers}}`), files);
  assert.deepEqual(await seen('{}'), ['public.a', 'public.b', 'public.c', 'public.d']);
  assert.deepEqual(await seen('{main: {enabled: [public.a, "*.b"]}}'), ['public.a', 'public.b']);
  assert.deepEqual(await seen('{main: {disabled: [public.a]}, "*": {enabled: [public.b], disabled: [public.d]}}'), [
    'public.b',
    'public.c',
  ]);
  assert.deepEqual(await seen('{balanced: {disabled: ["public.*"]}}'), []);
  assert.deepEqual(await seen('{other: {disabled: ["*"]}}'), ['public.a', 'public.b', 'public.c', 'public.d']);
});

test('an edited skill makes another revision of the bundle', async () => {
  const revision = (body: string) =>
    withSkills(yaml('{custom_root: skills}'), { 'skills/a/SKILL.md': skill('a', '', body) }, (bundle) =>
      Promise.resolve(bundle.revision),
    );
  assert.equal(await revision('One.'), await revision('One.'));
  assert.notEqual(await revision('One.'), await revision('Two.'));
});

test('a group of tools cannot take the name of the one that reads skills', async () => {
  const text = yaml('{custom_root: skills}', '[{name: skills, kind: module, module: builtin/math}]');
  assert.match(
    await problemsOf(text, { 'skills/a/SKILL.md': skill('a') }),
    /found a group skills, which is the name of a system group/,
  );
});
