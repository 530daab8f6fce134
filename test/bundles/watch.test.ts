import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { watchBundle } from '../../src/platform/bundle/watch-bundle.ts';
import { setting, tool, yaml, type Setting, type SettingOptions } from './reloading.ts';
import { skill } from '../skills/bundles.ts';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Waits for what watching brings. Nothing tells when a file system has told. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 200, 'nothing was loaded');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const prompt = ({ bundle }: Setting) => bundle.loaded.agent('main').frame.systemPrompt;
const watched = (run: (setting: Setting) => Promise<void>, more: SettingOptions = {}) =>
  setting([{ text: 'Yes.' }], run, { watch: true, ...more });

const saves: readonly (readonly [how: string, save: (file: string, text: string) => void])[] = [
  ['written in place', writeFileSync],
  [
    'emptied and then written',
    (file, text) => {
      writeFileSync(file, '');
      writeFileSync(file, text);
    },
  ],
  [
    'written beside it and moved over it',
    (file, text) => {
      writeFileSync(`${file}.new~`, text);
      renameSync(`${file}.new~`, file);
    },
  ],
  [
    'moved away and written anew',
    (file, text) => {
      renameSync(file, `${file}~`);
      writeFileSync(file, text);
    },
  ],
];
for (const [how, save] of saves) {
  test(`an edit counts however it is saved: ${how}, and once more after that`, async () => {
    await watched(async (all) => {
      for (const said of ['Two.', 'Three.']) {
        save(all.file, yaml(said));
        await until(() => prompt(all) === said);
      }
    });
  });
}

test('a file that a bundle names counts as the bundle', async () => {
  const text = yaml('x').replace('system_prompt: x', 'system_prompt_file: prompts/main.md');
  await watched(
    async (all) => {
      writeFileSync(path.join(all.folder, 'prompts/main.md'), 'Two.');
      await until(() => prompt(all) === 'Two.');
    },
    { text, files: { 'prompts/main.md': 'One.' } },
  );
});

test('a skill that is added counts as an edit', async () => {
  const text = yaml('One.').replace('tools: [', 'skills: { custom_root: skills }, tools: [');
  await watched(
    async (all) => {
      all.edit(text, { 'skills/milk/SKILL.md': skill('milk') });
      await until(() => all.bundle.loaded.agent('main').grant.skills?.length === 2);
    },
    { text, files: { 'skills/tea/SKILL.md': skill('tea') } },
  );
});

test('a file that was missing mends the edit that named it', async () => {
  await watched(async (all) => {
    writeFileSync(all.file, yaml('Two.').replace('./slow.js', './gone.js'));
    await until(() => all.bundle.refusedEdit !== undefined);
    writeFileSync(path.join(all.folder, 'gone.js'), tool('there'));
    await until(() => prompt(all) === 'Two.');
  });
});

test('a folder of files that are exchanged by one link, as a mounted configuration is', async () => {
  await watched(async (all) => {
    const mounted = (name: string, said: string) => {
      mkdirSync(path.join(all.folder, name));
      writeFileSync(path.join(all.folder, name, 'app.yaml'), yaml(said));
      symlinkSync(name, path.join(all.folder, '..next'));
      renameSync(path.join(all.folder, '..next'), path.join(all.folder, '..data'));
    };
    mounted('..1', 'Two.');
    rmSync(all.file);
    symlinkSync('..data/app.yaml', all.file);
    await until(() => prompt(all) === 'Two.');
    mounted('..2', 'Three.');
    await until(() => prompt(all) === 'Three.');
  });
});

test('what else is written in the folder of a bundle is none of its business', async () => {
  await setting([{ text: 'Yes.' }], async ({ bundle, folder }) => {
    let looks = 0;
    const clock = { ...systemClock, after: () => (looks++, () => undefined) };
    const changed = () => Promise.resolve();
    const stop = watchBundle({ watched: () => bundle.loaded, changed, clock, logger: silent });
    const seen = new Set<string | null>();
    const watcher = watch(folder, (_, name) => seen.add(name));
    const others = ['runs.db', 'notes.md', 'app.yaml~'];
    for (const name of others) writeFileSync(path.join(folder, name), 'x');
    await until(() => others.every((name) => seen.has(name)));
    watcher.close();
    stop();
    assert.equal(looks, 0);
  });
});
