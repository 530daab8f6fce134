import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { effective, inFolder, load, loadOptions, noticesOf, problemsOf } from '../support/bundles.ts';

const withFile = (name: string) => `config: {react: {main: {system_prompt_file: ${name}}}}`;

test('a system prompt is read from its file, beside the bundle', async () => {
  const bundle = await load(withFile('prompts/main.md'), { 'prompts/main.md': '\ufeffYou add.\r\nAlways.\n' });
  assert.equal((await effective(bundle)).instructions, 'You add.\nAlways.');
});

test('variables are not put into a file', async () => {
  const bundle = await load(withFile('main.md'), { 'main.md': 'Say ${HOME}.' });
  assert.equal((await effective(bundle)).instructions, 'Say ${HOME}.');
});

test('a link that leads out of the folder is not followed', async () => {
  await inFolder(withFile('prompt.md'), {}, async (file, folder) => {
    await inFolder('', { 'secret.txt': 'root:x' }, async (_, elsewhere) => {
      symlinkSync(path.join(elsewhere, 'secret.txt'), path.join(folder, 'prompt.md'));
      await assert.rejects(loadBundle(file, loadOptions), /wanted a file in the folder of the bundle/);
    });
  });
});

test('a link within the folder is followed', async () => {
  await inFolder(withFile('prompt.md'), { 'real.md': 'You add.' }, async (file, folder) => {
    symlinkSync(path.join(folder, 'real.md'), path.join(folder, 'prompt.md'));
    assert.equal((await effective(await loadBundle(file, loadOptions))).instructions, 'You add.');
  });
});

test('a bundle that is not there, is a folder, is too large or is not UTF-8 cannot be read', async () => {
  await inFolder('id: a', {}, async (file, folder) => {
    const missing = path.join(folder, 'none.yaml');
    await assert.rejects(
      loadBundle(missing, loadOptions),
      /none\.yaml: found no such file, wanted a file that can be read/,
    );
    await assert.rejects(loadBundle(folder, loadOptions), /found a directory, wanted a file \(bundle_unreadable\)/);
    writeFileSync(file, `# ${'x'.repeat(1_048_576)}`);
    await assert.rejects(loadBundle(file, loadOptions), /found 1048578 bytes, wanted at most 1048576 bytes/);
  });
  assert.equal(
    await problemsOf(Uint8Array.from([0x69, 0x64, 0x3a, 0x20, 0xff])),
    'app.yaml: found bytes that are not UTF-8, wanted UTF-8 text; save the file as UTF-8 (bundle_unreadable)',
  );
});

test('a byte order mark and Windows line ends are no matter', async () => {
  assert.equal((await load('\ufeffid: a\r\nconfig:\r\n  react: {}\r\n')).id, 'a');
});

test('a bundle without an id is called after its file', async () => {
  assert.equal((await load('config: {}')).id, 'app');
});

test('a variable is put in, has a default, and can be escaped', async () => {
  const prompt = async (text: string, environment: Record<string, string>) =>
    (await effective(await load(`config: {react: {main: {system_prompt: "${text}"}}}`, {}, { environment })))
      .instructions;
  assert.equal(await prompt('Hi ${NAME}, ${NAME}', { NAME: 'Ana' }), 'Hi Ana, Ana');
  assert.equal(await prompt('Hi ${NAME:-you}', {}), 'Hi you');
  assert.equal(await prompt('Hi ${NAME:-you}', { NAME: '' }), 'Hi you');
  assert.equal(await prompt('Hi ${NAME:-}.', {}), 'Hi .');
  assert.equal(await prompt('Hi $${NAME} for $5', {}), 'Hi ${NAME} for $5');
});

test('what a variable holds is text, whatever it looks like', async () => {
  const environment = { NAME: '${HOME} *x {a: 1}' };
  const bundle = await load('config: {react: {main: {system_prompt: "${NAME}"}}}', {}, { environment });
  assert.equal((await effective(bundle)).instructions, environment.NAME);
});

test('a variable called like a method of objects is not set', async () => {
  assert.match(await problemsOf('id: ${toString}'), /\$\{toString\}, which is not set/);
});

test('every edit that means something changes the revision, and a comment does not', async () => {
  const yaml = `models: {balanced: {provider: scripted, script: ./a.json}}\n${withFile('main.md')}\n`;
  const files = { 'main.md': 'You add.', 'a.json': '[{}]' };
  const { revision } = await load(yaml, files);
  const same = await load(`# a comment\n${yaml}`, files);
  const edits = [
    await load(yaml, { ...files, 'main.md': 'You subtract.' }),
    await load(yaml, { ...files, 'a.json': '[{"text":"hi"}]' }),
    await load(`id: b\n${yaml}`, files),
  ];
  assert.equal(same.revision, revision);
  assert.equal(new Set([revision, ...edits.map((one) => one.revision)]).size, 4);
});

test('the script of a model stays relative to the bundle', async () => {
  const yaml = 'models: {balanced: {provider: scripted, script: ./a.json}}';
  const { models } = await effective(await load(yaml, { 'a.json': '[{}]' }));
  assert.deepEqual(models, [{ provider: 'scripted', model: 'scripted', options: { script: './a.json' } }]);
});

test('a script that is no JSON or no script is refused', async () => {
  const yaml = 'models: {balanced: {provider: scripted, script: ./a.json}}';
  assert.equal(
    (await problemsOf(yaml, { 'a.json': '[{"text":\n  oh}]' })).replace(/; .*\(/, ' ('),
    'app.yaml:1:41  models.balanced.script: found "./a.json", which is not JSON, wanted valid JSON (script_invalid)',
  );
  assert.match(
    await problemsOf(yaml, { 'a.json': '[{"txt":"hi"}]' }),
    /models\.balanced\.script: .*\(script_invalid\)$/,
  );
  assert.match(await problemsOf(yaml), /no such file as "\.\/a\.json".*\(bundle_unreadable\)$/);
});

test('a key that is not set and a package that is not there are remarks', async () => {
  const yaml = 'models: {balanced: [{provider: openai, model: x}, {provider: nobody-sells-this, model: y}]}';
  const said = noticesOf(await load(yaml)).map((one) => one.replace(/^.*?: /, ''));
  assert.deepEqual(said, [
    'OPENAI_API_KEY is not set: openai cannot be called without a key',
    'no package of nobody-sells-this is installed, such as @ai-sdk/nobody-sells-this',
  ]);
  assert.deepEqual(noticesOf(await load(yaml, {}, { environment: { OPENAI_API_KEY: 'k' } })).length, 1);
});

test('a folder for skills without any is a remark', async () => {
  const yaml = 'surfaces: {as_consumer: {agents: {main: {skills: {custom_root: skills}}}}}';
  assert.equal(await problemsOf(yaml), '');
  assert.equal(await problemsOf(yaml, { 'skills/a.md': 'x' }), '');
});
