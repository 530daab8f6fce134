import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { inFolder } from '../support/bundles.ts';

const groups = [
  '- { name: io, kind: module, module: builtin/io }',
  '- { name: time, kind: module, module: builtin/time }',
  '- { name: math, kind: module, module: builtin/math }',
];
const yaml = (tools: readonly string[]) => `
id: app
config: { react: { main: { system_prompt: You help., additional_instructions: Cite sources. } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
${tools.map((line) => `          ${line}`).join('\n')}
models: { balanced: { provider: scripted, script: ./script.json } }
`;

test('two processes, two users, two days and another order of the tools give the same bytes up to the conversation', async () => {
  const script = JSON.stringify([{ text: 'Yes.' }]);
  await inFolder(
    yaml(groups),
    { 'script.json': script, 'shuffled.yaml': yaml([...groups].reverse()) },
    (file, folder) => {
      const head = (bundle: string, user: string, day: number) =>
        execFileSync(
          process.execPath,
          [path.join(import.meta.dirname, '../support/prompt-head.ts'), bundle, user, String(day)],
          { encoding: 'utf8' },
        );
      const [one, ...others] = [
        head(file, 'ana', 1),
        head(file, 'bo', 20_000),
        head(path.join(folder, 'shuffled.yaml'), 'ana', 1),
      ];
      assert.match(one, /^[0-9a-f]{64}$/);
      assert.deepEqual(others, [one, one]);
      return Promise.resolve();
    },
  );
});
