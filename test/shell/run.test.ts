// Commands at work: what they say, how they end, and what they cannot reach.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { createRootedFiles, type RootedFilesOptions } from '../../src/adapters/files/rooted.ts';
import { systemShell } from '../../src/adapters/shell/shell.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import type { Shell } from '../../src/kernel/shell.ts';
import { isToolReturn } from '../../src/kernel/tool.ts';
import { compileTool } from '../../src/platform/grant/catalog.ts';
import { shellGroup } from '../../src/plugins/tools/shell/group.ts';
import { aContext } from '../support/tool-context.ts';

interface Ending {
  after(undo: () => unknown): void;
}

interface DeskOptions {
  readonly config?: JsonObject;
  readonly shell?: Shell;
  readonly files?: Partial<RootedFilesOptions>;
}

const state = await systemShell.sandbox();
if (!state.on && process.env['CI'] === 'true') throw new Error(`there has to be a sandbox: ${state.why}`);
const inSandbox = { skip: state.on ? false : state.why };

let actions = 0;

/** A root, and the shell of one conversation in it. */
function aDesk(t: Ending, { config = {}, shell = systemShell, files = {} }: DeskOptions = {}) {
  const root = mkdtempSync(path.join(tmpdir(), 'treadle-shell-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const group = shellGroup(shell);
  t.after(() => group.onTurnEnd?.('c1'));
  const rooted = createRootedFiles({ root, ...files });
  const specs = group.configured?.tools(config) ?? [];
  const hands = (name: string) =>
    compileTool(
      specs.find((one) => one.name === name),
      name,
    ).hands;
  const context = (more: Partial<ToolContext>): ToolContext =>
    aContext({ files: rooted, actionId: `a${++actions}`, ...more });
  return {
    root,
    group,
    judge: async (command: string, name = 'shell_run') => hands(name).judge?.({ command }, context({})),
    preview: async (command: string) => hands('shell_run').preview?.({ command }, context({})),
    use: async (name: string, args: JsonObject, more: Partial<ToolContext> = {}) => {
      const returned: unknown = await hands(name).run(args, context(more));
      assert.ok(isToolReturn(returned));
      return returned;
    },
    run: async (command: string, more: JsonObject = {}) => {
      const returned: unknown = await hands('shell_run').run({ command, ...more }, context({}));
      return { value: valueOf(returned), text: textOf(returned) };
    },
  };
}

function valueOf(returned: unknown): Json | undefined {
  return isToolReturn(returned) && (returned.kind === 'result' || returned.kind === 'failure')
    ? returned.value
    : undefined;
}

function textOf(returned: unknown): string {
  const content = isToolReturn(returned) && returned.kind === 'result' ? (returned.content ?? []) : [];
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const bare: DeskOptions = { config: { sandbox: 'off' } };

for (const [where, options] of [
  ['in the sandbox', {}],
  ['outside of it', bare],
] as const) {
  const only = options === bare ? {} : inSandbox;

  test(`output, errors and exit code come together, ${where}`, only, async (t) => {
    const { run } = aDesk(t, options);
    assert.deepEqual(await run('echo one; echo two >&2; echo three; exit 3'), {
      value: { exit_code: 3 },
      text: 'one\ntwo\nthree\n',
    });
  });

  test(`what is written in the root is there, ${where}`, only, async (t) => {
    const { run, root } = aDesk(t, options);
    mkdirSync(path.join(root, 'sub'));
    await run('echo hi > a.txt', { folder: 'sub' });
    assert.equal(readFileSync(path.join(root, 'sub', 'a.txt'), 'utf8'), 'hi\n');
  });

  test(`the time limit ends all that was started and keeps what was said, ${where}`, only, async (t) => {
    const { run, root } = aDesk(t, options);
    const ran = await run('echo begun; (sleep 2; echo late > late.txt) & sleep 60', { timeout_ms: 300 });
    assert.deepEqual(ran, { value: { exit_code: null, timed_out_after_ms: 300 }, text: 'begun\n' });
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    assert.equal(existsSync(path.join(root, 'late.txt')), false);
  });

  test(`a cancel ends it, and nobody can say how far it came, ${where}`, only, async (t) => {
    const { use } = aDesk(t, options);
    const abort = new AbortController();
    const progress: ToolContext['progress'] = ({ text = '' }) => text.includes('begun') && abort.abort();
    const ended = await use('shell_run', { command: 'echo begun; sleep 60' }, { signal: abort.signal, progress });
    assert.deepEqual(ended, {
      kind: 'failure',
      code: 'cancelled',
      message: 'It was stopped by the user while it ran.',
      value: { output: 'begun\n' },
      uncertain: true,
    });
  });

  test(`what is left in the background holds nothing up, ${where}`, only, async (t) => {
    const { run } = aDesk(t, options);
    assert.deepEqual(await run('sleep 60 & echo done'), { value: { exit_code: 0 }, text: 'done\n' });
  });

  test(`a job runs beside, says what is new, and ends with the turn, ${where}`, only, async (t) => {
    const { use, group } = aDesk(t, options);
    const job = 'a-job';
    const started = await use('shell_start', { command: 'echo one; read -t 60 < <(:); sleep 60' }, { actionId: job });
    assert.deepEqual(valueOf(started), { job, state: 'running' });
    let said = '';
    while (!said.includes('one')) said += textOf(await use('shell_output', { job, wait_ms: 50 }));
    assert.deepEqual(valueOf(await use('shell_output', { job })), { job, state: 'running' });
    const stopped = valueOf(await use('shell_stop', { job })) as { state: string };
    assert.equal(stopped.state, 'ended');
    group.onTurnEnd?.('c1');
    const after = await use('shell_output', { job });
    assert.equal(after.kind === 'failure' ? after.code : '', 'unknown_job');
  });
}

test('nothing of the environment is seen but what the bundle says', inSandbox, async (t) => {
  process.env['TREADLE_TEST_SECRET'] = 'secret';
  t.after(() => delete process.env['TREADLE_TEST_SECRET']);
  for (const sandbox of ['preferred', 'off']) {
    const { run } = aDesk(t, { config: { sandbox, environment: { COLOR: 'blue' } } });
    const names = (await run('env')).text.split('\n').map((line) => line.split('=')[0] ?? '');
    assert.deepEqual(names.filter((name) => name !== '' && !['_', 'PWD', 'SHLVL', 'OLDPWD'].includes(name)).sort(), [
      'COLOR',
      'HOME',
      'LANG',
      'NO_COLOR',
      'PATH',
      'TERM',
      'TMPDIR',
    ]);
  }
});

test('outside of the root nothing is written, and little is there', inSandbox, async (t) => {
  const { run, root } = aDesk(t);
  const beside = `${root}-beside`;
  writeFileSync(beside, 'secret');
  t.after(() => rmSync(beside, { force: true }));
  const { text } = await run(
    `cat ${beside}; ls ~root /home; echo x > /usr/x; echo x > ${beside}; cat /etc/shadow; true`,
  );
  assert.equal(text.includes('secret'), false);
  assert.equal(existsSync('/usr/x'), false);
  assert.equal(readFileSync(beside, 'utf8'), 'secret');
  assert.match(text, /\/etc\/shadow: No such file/);
});

test('what the bundle hides is out of sight, and so is the log', inSandbox, async (t) => {
  const { run, root } = aDesk(t, { files: { ignore: ['.env', 'private/'] } });
  for (const folder of ['.treadle', 'private', 'deep']) mkdirSync(path.join(root, folder));
  for (const file of ['.treadle/log', 'private/x', '.env', 'deep/.env']) writeFileSync(path.join(root, file), 'secret');
  const { text } = await run('cat .treadle/log private/x .env deep/.env; true');
  assert.equal(text.includes('secret'), false);
});

test('a root that is read only is not written', inSandbox, async (t) => {
  const { run, root } = aDesk(t, { files: { readOnly: true } });
  await run('echo x > x');
  assert.equal(existsSync(path.join(root, 'x')), false);
});

test('the network is not there unless the bundle grants it', inSandbox, async (t) => {
  const server = createServer((_, response) => response.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
  const closed = await aDesk(t).run(ask);
  const open = await aDesk(t, { config: { network: true } }).run(ask);
  assert.deepEqual([closed.text.includes('reached'), open.text.includes('reached')], [false, true]);
});

test('processes of others are not seen', inSandbox, async (t) => {
  const { text } = await aDesk(t).run('ls -d /proc/[0-9]* | wc -l');
  assert.ok(Number(text) < 10, text);
});

test('of much output the beginning and the end are kept', async (t) => {
  const { run } = aDesk(t, { config: { sandbox: 'off', max_output_bytes: 1_000 } });
  const { text } = await run('echo first; for ((i = 0; i < 20000; i++)); do echo line; done; echo last');
  assert.match(text, /^first\n[^]*characters were not kept[^]*last\n$/);
  assert.ok(text.length < 1_100);
});

test('characters that come in pieces are whole', async (t) => {
  const { run } = aDesk(t, bare);
  assert.equal((await run("printf '\\xe2\\x82'; sleep 0.1; printf '\\xac'")).text, '€');
});

const noSandbox: Shell = { ...systemShell, sandbox: () => Promise.resolve({ on: false, why: 'none here' }) };

test('without a sandbox everything is asked about, and says so', async (t) => {
  const { judge, preview } = aDesk(t, { shell: noSandbox, config: { allow: ['ls'] } });
  const said = await judge('ls');
  assert.deepEqual(
    [said?.verdict, said?.verdict === 'hold' && said.question],
    ['hold', 'Run this command? it would not run in a sandbox: none here.'],
  );
  assert.match(JSON.stringify(await preview('ls')), /NOT in a sandbox: none here/);
});

test('where a sandbox is required and there is none, nothing runs', async (t) => {
  const { judge } = aDesk(t, { shell: noSandbox, config: { allow: ['ls'], sandbox: 'required' } });
  const said = await judge('ls');
  assert.deepEqual([said?.verdict, said?.verdict === 'deny' && said.code], ['deny', 'no_sandbox']);
});

test('every tool that starts a command asks the same rules', async (t) => {
  const { judge, group } = aDesk(t, { config: { allow: ['ls'], deny: ['rm *'], sandbox: 'off' } });
  for (const name of ['shell_run', 'shell_start']) {
    const verdicts = await Promise.all(['ls', 'whoami', 'rm x'].map(async (one) => (await judge(one, name))?.verdict));
    assert.deepEqual(verdicts, [undefined, 'hold', 'deny'], name);
  }
  const starting = group.tools.filter(({ effect }) => effect === 'once').map((one) => [one.name, 'judge' in one]);
  assert.deepEqual(starting, [
    ['shell_run', true],
    ['shell_start', true],
  ]);
});

test('a yes that reaches further is about this very command in this very folder', async (t) => {
  const said = await aDesk(t, { config: { sandbox: 'off' } }).judge('whoami');
  assert.deepEqual(said?.verdict === 'hold' && said.remember, {
    scopes: ['conversation', 'always'],
    subject: { command: 'whoami', folder: '' },
    about: 'the command whoami',
  });
});
