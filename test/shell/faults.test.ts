// Faults that others had with shells, by their numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemShell } from '../../src/adapters/shell/shell.ts';
import { builtinGroups } from '../../src/platform/builtins.ts';
import { ruling, type ShellRules } from '../../src/plugins/tools/shell/rules.ts';

const rules: ShellRules = { allow: ['echo *'], ask: [], deny: [], otherwise: 'ask' };
const verdictOf = async (command: string): Promise<string> => ruling(await systemShell.parse(command), rules).verdict;

test('B098 what is allowed allows nothing that comes with it', async () => {
  assert.equal(await verdictOf('echo hi'), 'allow');
  for (const command of [
    'echo hi; rm -rf x',
    'echo $(rm x)',
    'echo hi\nrm x',
    'echo hi | sh',
    'echo hi > x',
    'echo "',
  ]) {
    assert.equal(await verdictOf(command), 'ask', command);
  }
});

test('B099 a name that is made when it runs is never certain', async () => {
  const commands = [
    ...[
      '$(printf python3) --version',
      '`printf rm` x',
      'X=rm; $X y',
      '${X} y',
      'echo$IFS$(rm)',
      'e$@cho hi',
      '$IFS"rm" x',
    ],
    ...['env rm x', 'echo x | xargs rm', 'find . -exec rm {} +', 'IFS=,; echo,hi'],
  ];
  for (const command of commands) assert.equal(await verdictOf(command), 'ask', command);
});

test('B100 every tool that can start a process has the rules before it', () => {
  const tools = builtinGroups.get('shell')?.tools ?? [];
  const unjudged = tools.filter((one) => one.effect === 'once' && one.judge === undefined).map(({ name }) => name);
  assert.deepEqual([tools.length > 0, unjudged], [true, []]);
});
