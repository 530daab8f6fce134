import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { bundleRules, recordedReach } from '../../src/platform/replay/bundle-rules.ts';
import { replay } from '../../src/platform/replay/replay.ts';
import type { ReplayReport } from '../../src/platform/replay/report.ts';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { goldenCases, play } from '../support/golden.ts';
import { silent } from '../support/house.ts';

/** Plays a golden case and replays it under its own bundle, after an edit. */
async function replayed(name: string, edit: (yaml: string) => string): Promise<ReplayReport> {
  const golden = goldenCases().find((one) => one.name === name);
  assert.ok(golden !== undefined);
  const { facts, row } = await play(golden);
  const file = path.join(golden.folder, 'bundle.yaml');
  const bundle = await loadBundle(file, {
    text: edit(readFileSync(file, 'utf8')),
    environment: {},
    builtins: builtinGroups,
    plugins: new Map(allPlugins.map((one) => [one.id, one.config])),
    ...recordedReach(row, facts),
  });
  const rules = bundleRules(row, facts, { bundle, plugins: allPlugins, logger: silent });
  try {
    return await replay(row, facts, { rules, logger: silent });
  } finally {
    await rules.close();
  }
}

for (const { name } of goldenCases()) {
  test(`under its own bundle, nothing of the golden case ${name} is different`, async () => {
    const report = await replayed(name, (yaml) => yaml);
    const { calls, actions, verdicts, ended } = report;
    const other = {
      calls: calls.filter((one) => !one.same),
      actions,
      verdicts,
      ended: ended.filter((one) => !one.same),
    };
    assert.deepEqual(other, { calls: [], actions: [], verdicts: [], ended: [] });
    assert.equal(report.same, true);
  });
}

test('another system prompt is another section of every call, with the lines that changed', async () => {
  const report = await replayed('plain-chat', (yaml) => yaml.replace(/system_prompt: .*/, 'system_prompt: Be short.'));
  assert.deepEqual(
    report.calls.map(({ differences }) => differences.map(({ section, after }) => [section, after])),
    report.calls.map(() => [['instructions', 'Be short.\n\n[HOUSE STYLE]\n…']]),
  );
});

test('a tool that the new bundle does not grant is gone from the prompt, and its action is not allowed', async () => {
  const report = await replayed('parallel-tools', (yaml) =>
    yaml.replace(/.*builtin\/math.*/, '          - { name: time, kind: module, module: builtin/time }'),
  );
  assert.match(report.calls[0]?.differences[0]?.what ?? '', /calculate is gone/);
  assert.match(report.actions[0]?.before ?? '', /^runs with/);
  assert.match(report.actions[0]?.after ?? '', /^refused: Tool is not allowed/);
});

test('an approval that the new bundle does not ask for is a verdict that is gone, and the action runs', async () => {
  const report = await replayed('services', (yaml) => yaml.replaceAll('approval: ask', 'approval: never'));
  assert.deepEqual(
    report.verdicts.map(({ question, after }) => [question, after]),
    [['before:tool.invoke', undefined]],
  );
});

test('an approval that only the new bundle asks for is a new verdict; it is granted, and that is said', async () => {
  const report = await replayed('parallel-tools', (yaml) =>
    yaml.replace(/(module: builtin\/math)/, '$1, tool_traits: { calculate: { approval: ask } }'),
  );
  assert.ok(report.verdicts.some(({ before, after }) => before === undefined && /holds/.test(after ?? '')));
  assert.ok(report.notes.some((note) => /would ask a person/.test(note)));
});

test('a bundle without the agent ends the turn where the run went on', async () => {
  const report = await replayed('plain-chat', (yaml) => yaml.replaceAll('main', 'other'));
  assert.equal(report.same, false);
  assert.equal(report.ended[0]?.after?.code, 'bundle_unknown_name');
});
