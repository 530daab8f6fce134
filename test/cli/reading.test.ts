// Commands that read: show, list, check, schema, help, and what is said about mistakes.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { agentNames } from '../../src/cli/serving.ts';
import { openTerminal } from '../../src/cli/terminal.ts';
import { widthOf } from '../../src/cli/text.ts';
import { inside } from './inside.ts';
import { EXPOSURE, OUTCOMES, treadle, workplace, type Ran } from './treadle.ts';

const manifest = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

/** Nothing is wider than a terminal, and nothing moves its cursor or colours it. */
function readsIn80Columns({ out, err }: Ran): void {
  assert.doesNotMatch(out + err, /\x1b/);
  const wide = (out + err).split('\n').filter((line) => widthOf(line) > 80);
  assert.deepEqual(wide, []);
}

describe('treadle show and list', { concurrency: 2 }, () => {
  let cwd = '';
  before(async () => {
    cwd = mkdtempSync(path.join(tmpdir(), 'treadle-cli-'));
    await inside(['run', EXPOSURE, '8k in 10k'], { cwd });
    await inside(['run', OUTCOMES, `write ${path.join(cwd, 'effects')}`], { cwd });
    await inside(
      [
        'resume',
        'last',
        '--reject',
        '--note',
        'a reason that is rather long, so that it has to be wrapped when it is shown to somebody',
      ],
      { cwd },
    );
  });
  after(() => rmSync(cwd, { recursive: true, force: true }));

  it('tells a run as a story in 80 columns without escape codes', async () => {
    const ran = await inside(['show', 'last'], { cwd });
    readsIn80Columns(ran);
    const parts = [
      /main · completed/,
      /› you/,
      /1 · scripted authored +\d+ in, \d+ out/,
      /∴ A line is wanted/,
      /⊘ approved_line/,
      /"line": "one"|line "one"/,
      /held by gate\.tool_approval/,
      /rejected by you after .*: a reason/,
      /→ refused: The user refused/,
      /2 · scripted/,
      /■ completed · 2 model calls/,
    ];
    let rest = ran.out;
    for (const part of parts) {
      const found = part.exec(rest);
      assert.ok(found, `${part.toString()} is not where it should be in:\n${ran.out}`);
      rest = rest.slice(found.index);
    }
  });

  it('prints the raw facts, one a line, and the entries as JSON', async () => {
    const [log, json] = await Promise.all([
      inside(['show', 'last', '--log'], { cwd }),
      inside(['show', 'last', '--json'], { cwd }),
    ]);
    const facts = log.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string });
    assert.deepEqual(
      facts.map(({ seq }) => seq),
      facts.map((_, index) => index + 1),
    );
    assert.equal(facts.at(-1)?.type, 'agent.turn.end');
    const { entries } = JSON.parse(json.out) as { entries: { role: string }[] };
    assert.deepEqual(
      entries.map(({ role }) => role),
      ['user', 'call', 'thinking', 'action', 'call', 'assistant', 'end'],
    );
  });

  it('lists runs, the newest first, and finds one by the beginning of its id', async () => {
    const ran = await inside(['list'], { cwd });
    readsIn80Columns(ran);
    const [first = '', second = ''] = ran.out.split('\n');
    assert.match(first, /^run_\w{8} {2}completed {2}\S+.* main {2}write /);
    assert.match(second, /8k in 10k$/);
    const shown = await inside(['show', second.split(' ')[0] ?? ''], { cwd });
    assert.match(shown.out, /Fixture exposure: 80\.00%/);
  });

  it('lists as JSON, so many, and by status', async () => {
    const rows = async (...args: string[]) =>
      JSON.parse((await inside(['list', '--json', ...args], { cwd })).out) as unknown[];
    assert.deepEqual(
      [(await rows()).length, (await rows('--limit', '1')).length, (await rows('--status', 'waiting')).length],
      [2, 1, 0],
    );
    assert.equal((await inside(['list', '--status', 'compleated'], { cwd })).code, 2);
  });

  it('says in words that there are no runs', async (t) => {
    const ran = await inside(['list'], { cwd: workplace(t) });
    assert.deepEqual([ran.code, ran.out], [0, '']);
    assert.match(ran.err, /No runs in .*treadle\.db[\s\S]* chat/);
  });

  it('leaves no folder behind where it found none', async (t) => {
    const empty = workplace(t);
    for (const command of [['list'], ['show', 'last'], ['export'], ['list', '--data', 'mistyped']])
      await inside(command, { cwd: empty });
    assert.deepEqual(readdirSync(empty), []);
  });

  it('says what each agent is called, all of them in one form', () => {
    const agent = (name: string, bundle: string) => ({ name, bundle, isDefault: false });
    assert.deepEqual(agentNames([agent('main', 'desk@1'), agent('reader', 'desk@1')]), ['main', 'reader']);
    assert.deepEqual(agentNames([agent('desk:main', 'desk@1'), agent('lab:main', 'lab@2'), agent('reader', 'lab@2')]), [
      'desk:main',
      'lab:main',
      'lab:reader',
    ]);
  });

  it('colours only what FORCE_COLOR asks for, and never under NO_COLOR', async () => {
    const [forced, both] = await Promise.all([
      inside(['list'], { cwd, env: { FORCE_COLOR: '1' } }),
      inside(['list'], { cwd, env: { FORCE_COLOR: '1', NO_COLOR: '1' } }),
    ]);
    assert.match(forced.out, /\x1b\[/);
    assert.doesNotMatch(both.out, /\x1b/);
  });
});

describe('treadle check, schema and help', { concurrency: 2 }, () => {
  for (const [what, plugins, says] of [
    [
      'two plugins that answer the same',
      'active: [memory.capped, memory.compaction]',
      /memory\.compaction[^]*second answerer/,
    ],
    [
      'a plugin whose schema is none',
      'active: [gate.json_schema], gate.json_schema: { schema: { type: bogus } }',
      /gate\.json_schema\.schema/,
    ],
  ] as const) {
    it(`refuses ${what}, which would not start either`, async (t) => {
      const cwd = workplace(t);
      const models = 'models: { balanced: { provider: scripted, model: scripted } }';
      const file = path.join(cwd, 'app.yaml');
      writeFileSync(file, `id: app@1\nplugins: { ${plugins} }\n${models}\n`);
      const ran = await inside(['check', file], { cwd });
      assert.equal(ran.code, 2);
      assert.match(ran.err, says);
    });
  }

  it('says what the agents of good bundles have', async (t) => {
    const ran = await inside(['check', EXPOSURE, OUTCOMES], { cwd: workplace(t) });
    assert.equal(ran.code, 0);
    readsIn80Columns(ran);
    assert.match(
      ran.out,
      /✓ exposure@1[\s\S]*calculate_exposure[\s\S]*✓ outcomes@1[\s\S]*approved_line \(asks a person, acts once\)/,
    );
  });

  it('tells every problem of a bad bundle at once, with its place and what to do, and exits with 2', async (t) => {
    const cwd = workplace(t);
    writeFileSync(
      path.join(cwd, 'bad.yaml'),
      'config:\n  react:\n    main: { max_iterationz: 3, max_actions: many }\n',
    );
    const ran = await treadle(['check', 'bad.yaml', EXPOSURE], { cwd });
    assert.equal(ran.code, 2);
    assert.match(ran.err, /bad\.yaml:3[\s\S]*did you mean max_iterations[\s\S]*bad\.yaml:3[\s\S]*2 problems/);
    assert.match(ran.out, /✓ exposure@1/);
    readsIn80Columns(ran);
  });

  it('prints a JSON Schema', async (t) => {
    const schema = JSON.parse((await inside(['schema'], { cwd: workplace(t) })).out) as { type: string };
    assert.equal(schema.type, 'object');
  });

  it('prints its version and help, and every exit code in it', async (t) => {
    const cwd = workplace(t);
    const [version, help, none] = await Promise.all([
      treadle(['--version'], { cwd }),
      inside(['--help'], { cwd }),
      inside([], { cwd }),
    ]);
    assert.deepEqual([version.code, version.out], [0, `${manifest.version}\n`]);
    for (const { code, about } of Object.values(EXIT_CODES))
      assert.ok(help.out.includes(`${String(code).padStart(5)}  ${about}`), about);
    assert.equal(none.out, help.out);
    readsIn80Columns(help);
  });

  it('gives an example for each command', () => {
    const program = createProgram({ terminal: openTerminal({}, process), environment: {} }, '0', () => undefined);
    for (const command of program.commands) {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      assert.match(help, new RegExp(`\\$ .*treadle ${command.name()}`));
    }
  });

  it('names the command or option that was meant, and exits with 2', async (t) => {
    const cwd = workplace(t);
    const [command, option, missing] = await Promise.all([
      inside(['chta'], { cwd }),
      inside(['list', '--jsn'], { cwd }),
      inside(['show'], { cwd }),
    ]);
    assert.deepEqual([command.code, option.code, missing.code], [2, 2, 2]);
    assert.match(command.err, /did you mean chat/);
    assert.match(option.err, /did you mean --json/);
  });

  it('shows a stack only to those who ask', async (t) => {
    const cwd = workplace(t);
    const [plain, debug] = await Promise.all([
      inside(['show', 'run_x'], { cwd }),
      inside(['show', 'run_x', '--debug'], { cwd }),
    ]);
    assert.deepEqual([plain.code, debug.code], [2, 2]);
    assert.doesNotMatch(plain.err, /\.ts:\d/);
    assert.match(debug.err, /\.ts:\d/);
  });
});
