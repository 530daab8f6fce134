// The docs against the sources, both ways: what exists is in them, and what they name exists.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { pages } from '../scripts/docs/pages.ts';
import { documentedProgram } from '../scripts/docs/cli.ts';
import { OBSERVATION_CODES, TURN_CODES } from '../scripts/docs/log-codes.ts';
import { ERROR_CODES } from '../src/base/errors.ts';
import { isObject, parseJson } from '../src/base/json.ts';
import { FAULTS, scriptSchemas, type ScriptData } from '../src/adapters/models/script.ts';
import { createScriptedModel } from '../src/adapters/models/scripted.ts';
import { systemClock } from '../src/base/clock.ts';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { facts, PASSING_ABOUT } from '../src/domain/event.ts';
import type { Message } from '../src/domain/model.ts';
import { QUESTION_ABOUT } from '../src/kernel/verdict.ts';
import { builtinGroups } from '../src/platform/bundle/builtins.ts';
import { agentGroup } from '../src/plugins/tools/agent.ts';
import { planGroup } from '../src/plugins/tools/plan.ts';
import { bundleJsonSchema } from '../src/platform/bundle/bundle-schema.ts';
import { allPlugins } from '../src/platform/bundle/all-plugins.ts';
import { activeByDefault } from '../src/plugins/shipped.ts';
import { aRequest, collect, ok, said, textOf, used } from './support/streams.ts';
import { anchorsOf, blocksOf, firstCells, linksOf } from './support/markdown.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const files = (pattern: string | readonly string[]): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: (name) => /(^|[/\\])(node_modules|dist|coverage|\.git)$/.test(name) })
    .map((name) => name.replaceAll(path.sep, '/'))
    .sort();

const written = files(['*.md', 'docs/**/*.md']);
const texts = new Map(written.map((file) => [file, read(file)]));
const page = (name: string): string => texts.get(`docs/${name}`) ?? '';

/** What stands in backticks outside of fenced blocks. */
function spansOf(markdown: string): readonly string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

const headings = (markdown: string, level: number): readonly string[] =>
  [...markdown.matchAll(new RegExp(`^#{${level}} (.+)$`, 'gm'))].map(([, heading = '']) => heading);
const bare = (cells: readonly string[]): readonly string[] => cells.map((cell) => cell.replaceAll(/[`*]/g, ''));

for (const [name, render] of Object.entries(pages)) {
  test(`docs/${name} is what the sources say`, () => {
    assert.ok(page(name) === render(), `docs/${name} is stale: run \`npm run docs\` and commit what it writes`);
  });
}

test('every event is documented, and no other', () => {
  const types = [...Object.keys(facts), ...Object.keys(PASSING_ABOUT), ...Object.keys(QUESTION_ABOUT)];
  const told = headings(page('events.md'), 3);
  assert.deepEqual(
    told.filter((heading) => heading.includes('.')),
    types,
  );
});

test('every event, plugin and question that prose names exists', () => {
  const plugins = allPlugins.map(({ id }) => id);
  const known = new Set<string>([
    ...[...Object.keys(facts), ...Object.keys(PASSING_ABOUT), ...Object.keys(QUESTION_ABOUT), ...plugins],
    ...['control.cancel', 'agent.react', 'nexus.agent.react'],
  ]);
  const families = new Set([...known].map((name) => name.replace('before:', '').split('.')[0]));
  const unknown = [...texts].flatMap(([file, text]) =>
    spansOf(text)
      .filter((span) => /^(before:)?[a-z]+(\.[a-z_]+)+$/.test(span) && !/\.(ts|md|yaml|json|db|mjs)$/.test(span))
      .filter((span) => families.has(span.replace('before:', '').split('.')[0]) && !known.has(span))
      .map((span) => `${file}: ${span}`),
  );
  assert.deepEqual(unknown, []);
});

test('every error code is documented, and prose names no other', () => {
  const codes = Object.keys(ERROR_CODES);
  assert.deepEqual(bare(firstCells(page('errors.md'), 'Errors')), codes);
  const families = new Set(['log', 'bundle', 'conversation', 'request', 'answer', 'script']);
  const unknown = [...texts].flatMap(([file, text]) =>
    spansOf(text)
      .filter((span) => /^[a-z]+(_[a-z]+)+$/.test(span) && families.has(span.split('_')[0] ?? ''))
      .filter((span) => !codes.includes(span))
      .map((span) => `${file}: ${span}`),
  );
  assert.deepEqual(unknown, []);
});

test('every code that the loop states is documented, and no other', () => {
  const sources = files([
    'src/loop/*.ts',
    'src/kernel/ask.ts',
    'src/domain/fold-turn.ts',
    'src/platform/grant/catalog.ts',
  ])
    .map(read)
    .join('\n');
  const told = { ...OBSERVATION_CODES, ...TURN_CODES };
  for (const code of Object.keys(told)) assert.ok(sources.includes(`'${code}'`), `nothing states ${code}`);
  const stated = [
    ...sources.matchAll(/\bcode(?: =|:) '(\w+)'/g),
    ...sources.matchAll(/\bbroken\('(\w+)'/g),
    ...sources.matchAll(/\bobserv(?:ed|ation)\([^)]*?'(?:failed|refused|invalid|cancelled|unknown)',\s*'(\w+)'/g),
    ...sources.matchAll(/\btoolFailure\('(\w+)'/g),
    ...sources.matchAll(/'(gate_\w+)'/g),
  ].map(([, code = '']) => code);
  assert.ok(stated.length > 20);
  assert.deepEqual(
    stated.filter((code) => !Object.hasOwn(told, code)),
    [],
  );
});

test('every key of a bundle is documented, and no other', () => {
  const keys = new Set<string>();
  const visit = (schema: unknown): void => {
    if (Array.isArray(schema)) schema.forEach(visit);
    if (!isObject(schema)) return;
    const { properties, ...rest } = schema;
    if (isObject(properties)) {
      for (const [name, inner] of Object.entries(properties)) {
        keys.add(name);
        visit(inner);
      }
    }
    Object.values(rest).forEach(visit);
  };
  visit(bundleJsonSchema());
  const text = page('configuration.md');
  const told = new Set(
    headings(text, 2)
      .filter((heading) => heading !== 'Plugins')
      .flatMap((heading) => bare(firstCells(text, heading.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')))),
  );
  assert.deepEqual([...told].sort(), [...keys].sort());
});

test('every plugin is documented, and no other', () => {
  const ids = allPlugins.map(({ id }) => id);
  assert.deepEqual(
    headings(page('plugins.md'), 2).filter((heading) => heading.includes('.')),
    ids,
  );
  assert.deepEqual(bare(firstCells(page('configuration.md'), 'Plugins')), ids);
  for (const { id } of allPlugins) {
    const [, section = ''] = page('plugins.md').split(`## ${id}\n`);
    assert.match(section, activeByDefault.has(id) ? /^[^#]*Always active\./ : /^[^#]*Active when a bundle names it\./);
  }
});

test('every built-in tool is documented, and no other', () => {
  const groups = [...builtinGroups.values(), agentGroup(['clerk']), planGroup];
  assert.deepEqual(
    headings(page('tools.md'), 2),
    groups.map(({ name }) => `builtin/${name}`),
  );
  assert.deepEqual(
    headings(page('tools.md'), 3),
    groups.flatMap(({ tools }) => tools.map(({ name }) => name)),
  );
});

const program = documentedProgram();
const allCommands = commandsOf(program, 'treadle');

/** Every command by its whole name, those of a group too. */
function commandsOf(above: Command, before: string): readonly { readonly name: string; readonly command: Command }[] {
  return above.commands.flatMap((command) => {
    const name = `${before} ${command.name()}`;
    return [{ name, command }, ...commandsOf(command, name)];
  });
}

test('every command and option is documented, and no other', () => {
  const text = page('cli.md');
  const commands = program.commands.map((command) => command.name());
  assert.deepEqual(
    headings(text, 2).filter((heading) => heading.startsWith('treadle ')),
    commands.map((name) => `treadle ${name}`),
  );
  for (const { name, command } of allCommands) {
    const [, help = ''] = new RegExp(`^##+ ${name}\\n(.*?)(?=^##+ )`, 'ms').exec(text) ?? [];
    for (const { long } of command.options)
      assert.ok(help.includes(`  ${long ?? ''} `) || help.includes(`, ${long ?? ''} `), `${name} ${long ?? ''}`);
  }
  assert.deepEqual(
    bare(firstCells(texts.get('README.md') ?? '', 'Command line')).map((cell) => cell.split(' ')[1]),
    commands,
  );
  for (const command of program.commands) {
    assert.ok(texts.get('README.md')?.includes(`| ${command.description()} |`), `the README on ${command.name()}`);
  }
});

test('every command and option that prose names exists', () => {
  const commands = new Set([...program.commands.map((command) => command.name()), 'help']);
  const options = new Set([
    ...[program, ...allCommands.map((one) => one.command)].flatMap((one) => one.options.map(({ long }) => long ?? '')),
    ...['--help', '--version', '--check'],
    ...[...read('bench/run.ts').matchAll(/--[a-z]+/g)].map(([option]) => option),
  ]);
  const unknown = [...texts].flatMap(([file, text]) => {
    const code = [...spansOf(text), ...blocksOf(text).map((block) => block.text)].join('\n');
    const named = [...code.matchAll(/(?<![.\w-])treadle ([a-z]+)\b/g)].map(([, name = '']) => name);
    const given = [...code.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option);
    return [
      ...named.filter((name) => !commands.has(name)).map((name) => `${file}: treadle ${name}`),
      ...given.filter((option) => !options.has(option)).map((option) => `${file}: ${option}`),
    ];
  });
  assert.deepEqual(unknown, []);
});

test('every exit code is documented, and no other', () => {
  assert.deepEqual(
    firstCells(page('cli.md'), 'Exit codes'),
    Object.values(EXIT_CODES).map(({ code }) => String(code)),
  );
});

test('every key and fault of a script is documented, and no other', () => {
  const text = page('scripts.md');
  const told = (heading: string): readonly string[] => bare(firstCells(text, heading));
  const [, whole, turned] = scriptSchemas.file.options;
  const { replies, repeat } = whole.shape;
  const keys = Object.keys({ replies, ...turned.shape, repeat });
  assert.deepEqual(told('Of a script').toSorted(), keys.toSorted());
  assert.deepEqual(told('Of a reply'), Object.keys(scriptSchemas.reply.shape));
  assert.deepEqual(told('Of an action'), Object.keys(scriptSchemas.action.shape));
  assert.deepEqual(told('Faults'), FAULTS);
});

test('the script of the docs says what they say', async () => {
  const [block] = blocksOf(page('scripts.md')).filter(({ language }) => language === 'json');
  const data = parseJson(block?.text ?? '', 'docs/scripts.md') as ScriptData; // checked when the model is made
  const model = createScriptedModel(data, { clock: systemClock });
  const signal = new AbortController().signal;
  const ask = async (...messages: readonly Message[]) =>
    collect(await model.call(aRequest({ messages }), { conversationId: 'c1', signal }));
  const asked = said('The weather in Graz?');
  const first = await ask(asked);
  const action = first.find((part) => part.type === 'action');
  assert.deepEqual([textOf(first), action?.input], ['I look.', '{"place":"Graz"}']);
  const after = used('weather', { place: 'Graz' }, ok({ celsius: 21 }));
  assert.equal(textOf(await ask(asked, ...after)), 'In Graz it has 21.0 degrees.');
  assert.equal(textOf(await ask(said('Good day'))), 'You said: Good day');
});

test('every link leads somewhere', () => {
  const broken: string[] = [];
  for (const [file, text] of texts) {
    for (const link of linksOf(text)) {
      if (/^https?:/.test(link)) continue;
      const [target = '', anchor] = link.split('#');
      const to = target === '' ? file : path.posix.join(path.posix.dirname(file), target);
      if (!existsSync(path.join(root, to))) broken.push(`${file}: ${link}`);
      else if (anchor !== undefined && !anchorsOf(read(to)).has(anchor)) broken.push(`${file}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('every file that prose names exists', () => {
  const rooms = files('src/*/').map((folder) => folder.replace(/^src\//, ''));
  const missing: string[] = [];
  for (const [file, text] of texts) {
    for (const span of spansOf(text)) {
      if (!/^\w[\w.-]*(\/[\w.-]+)+\/?$/.test(span) || /^(builtin|node_modules)\//.test(span)) continue;
      const [first = ''] = span.split('/');
      const where = rooms.includes(first) ? path.join('src', span) : span;
      const isOurs = rooms.includes(first) || existsSync(path.join(root, first));
      if (isOurs && !existsSync(path.join(root, where))) missing.push(`${file}: ${span}`);
    }
  }
  assert.deepEqual(missing, []);
});

test('every noun of the domain is in the vocabulary', () => {
  const text = page('vocabulary.md');
  for (const file of files('src/domain/*.ts')) {
    assert.ok(text.includes(`\`${file.replace('src/', '')}\``), `docs/vocabulary.md has no row for ${file}`);
  }
});

test('decisions are numbered without a gap, and all are indexed', () => {
  const names = files('docs/decisions/*.md').map((file) => path.basename(file));
  const decisions = names.filter((name) => name !== 'README.md');
  const numbers = decisions.map((name) => /^\d{4}(?=-)/.exec(name)?.[0]);
  assert.deepEqual(
    numbers,
    numbers.map((_, at) => String(at + 1).padStart(4, '0')),
  );
  const index = [...page('decisions/README.md').matchAll(/^- \[(\d{4})\]\((.*?)\) (.*)$/gm)];
  assert.deepEqual(
    index.map(([, number, file, title]) => [number, file, title]),
    decisions.map((name) => [name.slice(0, 4), name, /^# (.*)$/m.exec(page(`decisions/${name}`))?.[1]]),
  );
  for (const name of decisions) {
    const lines = page(`decisions/${name}`).split('\n').length;
    assert.ok(lines <= 45, `${name} is to be half a page and has ${lines} lines`);
  }
});

test('no file names the place or the means of its making', () => {
  // Put together here, so that this file does not find itself.
  const words = ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|');
  const bans: readonly (readonly [RegExp, string])[] = [
    [
      new RegExp(`(^|[\\s'"\`(=])/(${['work', 'farm', 'tmp', 'root', 'home', 'Users'].join('|')})/[A-Za-z]`),
      'a path of one machine',
    ],
    [/registry\.[a-z]|\bnpmj[s]\b/, 'the host of a registry'],
    [/^(<{7}|>{7})( |$)/m, 'a marker of a merge'],
    [new RegExp(`\\b(${words})\\b`), 'a remark that leaves work for later'],
  ];
  const rules = new Set(['test/architecture.test.ts']); // it names the words that it forbids
  const found = files([
    '*.{md,json,js}',
    '{agents,bench,docs,examples,scripts,src,test,web}/**/*.{ts,tsx,js,mjs,json,jsonl,yaml,md,svg,txt}',
  ])
    .filter((file) => !rules.has(file))
    .flatMap((file) => {
      const text = read(file);
      return bans.filter(([pattern]) => pattern.test(text)).map(([, what]) => `${file}: ${what}`);
    });
  assert.deepEqual(found, []);
});
