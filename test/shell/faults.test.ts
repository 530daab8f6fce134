// Faults that others had with shells, by their numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemShell } from '../../src/adapters/shell/shell.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
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
    // What joins, in any of its spellings.
    ...['echo hi & rm x', 'echo hi && rm x', 'echo hi || rm x', 'echo hi |& sh', 'echo hi\r\nrm x', 'echo hi # \nrm x'],
    ...['echo hi \\\n; rm x', 'echo hi\u2028rm x', 'echo hi\u0085rm x', 'echo \0; rm x'],
    // What is put in.
    ...['echo "$(rm x)"', 'echo "`rm x`"', 'echo ${x:-$(rm x)}', 'echo $((a[$(rm x)]))', 'echo {a,$(rm x)}'],
    ...['echo <(rm x)', 'echo >(rm x)', 'echo <<E\n$(rm x)\nE', '[[ -v a[$(rm x)] ]]', 'let "a[$(rm x)]=1"'],
    // Where it goes.
    ...['echo hi >| x', 'echo hi &> x', 'echo hi 2> x', 'echo hi >> x', 'echo hi <> x'],
    // What makes another thing of the name, and names that only look like it.
    ...['echo(){ rm x; }; echo hi', 'function echo { rm x; }; echo hi', 'alias echo=rm; echo x', 'PATH=. echo hi'],
    ...['LD_PRELOAD=./x.so echo hi', './echo hi', '../echo hi', '\u0435cho hi', 'ec\u200bho hi', '\uff45cho hi'],
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
    ...['eval echo hi', '. x', 'source x', 'trap "rm x" EXIT', 'coproc rm x', 'exec rm x', 'command rm x'],
    ...['nice rm x', 'nohup rm x', 'timeout 5 rm x', 'sudo rm x', 'setsid rm x', 'busybox rm x', 'time rm x', '! rm x'],
    ...['bash -c "rm x"', 'sh -c "echo hi"', '(rm x)', '{ rm x; }', 'if true; then rm x; fi', 'enable -f ./x.so x'],
    ...['env rm x', 'echo x | xargs rm', 'find . -exec rm {} +', 'IFS=,; echo,hi'],
  ];
  for (const command of commands) assert.equal(await verdictOf(command), 'ask', command);
});

test('B100 every tool that can start a process has the rules before it', () => {
  const tools = builtinGroups.get('shell')?.tools ?? [];
  const unjudged = tools.filter((one) => one.effect === 'once' && one.judge === undefined).map(({ name }) => name);
  assert.deepEqual([tools.length > 0, unjudged], [true, []]);
});
