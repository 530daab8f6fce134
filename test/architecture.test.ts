// Reads every source file and says which rule of the house it breaks and what to do instead. The rules are the tables
// below; the samples at the end prove that each rule can fail.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

/** A room may import rooms on lower floors and itself: never a higher floor, never a neighbour. */
const floors: Readonly<Record<string, number>> = {
  base: 0,
  domain: 1,
  ...{ kernel: 2, assembly: 2 },
  ...{ loop: 3, adapters: 3, plugins: 3 },
  platform: 4,
  http: 5,
  client: 6,
  cli: 7,
};
const mayTouchNode = /^src\/(adapters|platform|http|cli)\//;
const zodOnly = /^src\/(base|domain|kernel|assembly|loop|plugins)\//;
const synchronous = /^src\/(domain\/|assembly\/|loop\/next\.ts$)/;
const source = /^(src|web)\/.*(?<!\.test)\.tsx?$/;
const testFile = /^test\/|\.test\.tsx?$/;
const vagueNames = /^(utils?|helpers?|common|misc)$/;
/** The words of another protocol stand on its wire as they are. */
const foreignWords = /^src\/http\/ag-ui\//;
const synonyms: Readonly<Record<string, string>> = {
  veto: 'deny',
  guardrail: 'gate',
  thread: 'conversation',
  journal: 'log',
};

interface Ban {
  readonly where?: RegExp;
  readonly except?: RegExp;
  readonly finds: (node: ts.Node) => boolean;
  readonly say: string;
}

const bans: readonly Ban[] = [
  {
    except: /^(src\/base|web)\/clock\.ts$/,
    finds: (node) =>
      isMember(node, 'Date', 'now') ||
      (ts.isNewExpression(node) && isNamed(node.expression, 'Date') && !node.arguments?.length),
    say: 'reads the system clock. Only base/clock.ts may: take a Clock and ask it for now()',
  },
  {
    except: /^(src\/base|web)\/ids\.ts$/,
    finds: (node) => isMember(node, 'Math', 'random') || isNamed(node, 'randomUUID'),
    say: 'rolls dice. Only base/ids.ts may: take an IdSource',
  },
  {
    except: /^src\/platform\/bundle\/environment\.ts$/,
    finds: (node) => isMember(node, 'process', 'env'),
    say: 'reads the environment. Only platform/bundle/environment.ts may: take the value as an argument',
  },
  {
    except: /^(src\/base|web)\/json\.ts$/,
    finds: (node) => isMember(node, 'JSON', 'parse'),
    say: 'trusts JSON.parse. Use parseJson or tryParseJson of base/json.ts, whose errors say where the text came from',
  },
  {
    except: /^src\/cli\//,
    finds: (node) => ts.isPropertyAccessExpression(node) && isNamed(node.expression, 'console'),
    say: 'prints. Only cli/ speaks to the terminal: emit a fact, or return what there is to say',
  },
  {
    where: synchronous,
    finds: (node) => ts.isAwaitExpression(node) || node.kind === ts.SyntaxKind.AsyncKeyword || isNamed(node, 'Promise'),
    say: 'is asynchronous. This place only decides: move what waits into loop/perform.ts, an adapter or platform/',
  },
  {
    finds: (node) => node.kind === ts.SyntaxKind.AnyKeyword,
    say: 'says `any`. Say `unknown` and parse it with a schema at the edge',
  },
  {
    finds: (node) =>
      node.kind === ts.SyntaxKind.DefaultKeyword ||
      ts.isExportAssignment(node) ||
      (ts.isExportSpecifier(node) && node.name.text === 'default'),
    say: 'exports a default. Export it by name, so that it has one name everywhere',
  },
  {
    finds: (node) => ts.isEnumDeclaration(node) || ts.isModuleDeclaration(node),
    say: 'declares an enum or a namespace, which Node cannot strip. Use a union of strings, or a file',
  },
  {
    finds: (node) =>
      ts.isHeritageClause(node) &&
      ts.isClassLike(node.parent) &&
      node.token === ts.SyntaxKind.ExtendsKeyword &&
      !/Error$/.test(node.types[0]?.expression.getText() ?? ''),
    say: 'inherits from a class. Only errors do: pass in what differs as a function or a value',
  },
  {
    where: testFile,
    finds: (node) =>
      ts.isPropertyAccessExpression(node) &&
      ts.isCallExpression(node.parent) &&
      /^(only|skip)$/.test(node.name.text) &&
      /^(test|it|describe|suite|t|context)$/.test(node.expression.getText()),
    say: 'leaves tests out. Run all of them, or delete the one that no longer says anything',
  },
];

/** Remarks stand in comments, which the syntax tree does not have, so these read the plain text. */
const textBans = [
  { finds: /@ts-(ignore|nocheck)/, say: 'silences the compiler. Give it the type it asks for' },
  { finds: /\b(TODO|FIXME|XXX)\b/, say: 'leaves work for later. Do it, or open an issue and remove the remark' },
];

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}

function isMember(node: ts.Node, object: string, member: string): boolean {
  return ts.isPropertyAccessExpression(node) && node.name.text === member && isNamed(node.expression, object);
}

const wordsOf = (name: string) => name.split(/(?<=[a-z\d])(?=[A-Z])|[^A-Za-z\d]+/).map((word) => word.toLowerCase());
const roomOf = (file: string) => /^src\/([^/]+)\//.exec(file)?.[1];

type Files = ReadonlyMap<string, string>;

function complaints(files: Files): string[] {
  const found: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [file, text] of files) {
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const say = (position: number, message: string) => {
      found.push(`${file}:${tree.getLineAndCharacterOfPosition(position).line + 1} ${message}.`);
    };
    walk(tree, file, say);
    if (!source.test(file)) continue;
    checkName(file, say);
    for (const { finds, say: message } of textBans) {
      const match = finds.exec(text);
      if (match) say(match.index, message);
    }
    const targets: string[] = [];
    for (const { fileName: specifier, pos } of ts.preProcessFile(text).importedFiles) {
      const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : undefined;
      if (target !== undefined) targets.push(target);
      const wrong = target === undefined ? wrongPackage(file, specifier) : wrongFloor(file, target);
      if (wrong !== undefined) say(pos, wrong);
    }
    graph.set(file, targets);
  }
  return [...found, ...cycles(graph)];
}

function walk(tree: ts.SourceFile, file: string, say: (position: number, message: string) => void): void {
  const active = bans.filter(({ where = source, except }) => where.test(file) && !except?.test(file));
  const visit = (node: ts.Node): void => {
    for (const ban of active) if (ban.finds(node)) say(node.getStart(tree), ban.say);
    if (source.test(file) && !foreignWords.test(file) && (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))) {
      const [synonym] = wordsOf(node.text).filter((word) => Object.hasOwn(synonyms, word));
      if (synonym) say(node.getStart(tree), `says ${synonym} in \`${node.text}\`. Our word is ${synonyms[synonym]}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
}

function checkName(file: string, say: (position: number, message: string) => void): void {
  const room = roomOf(file);
  if (file.startsWith('src/') && file !== 'src/index.ts' && (room === undefined || floors[room] === undefined)) {
    say(0, `is in no room of the house. Move it into one of ${Object.keys(floors).join(', ')}`);
  }
  for (const part of file.replace(/\.tsx?$/, '').split('/')) {
    if (vagueNames.test(part)) say(0, `is called ${part}, which says nothing. Name it after the noun it is about`);
  }
}

function wrongPackage(file: string, specifier: string): string | undefined {
  if (file.startsWith('web/')) return undefined;
  if (specifier.startsWith('node:')) {
    if (mayTouchNode.test(file) || file === 'src/index.ts') return undefined;
    if (file === 'src/base/digest.ts' && specifier === 'node:crypto') return undefined;
    return `imports ${specifier}. Only adapters, platform, http and cli touch Node: reach it through a port in kernel/`;
  }
  if (!zodOnly.test(file) || /^zod(\/|$)/.test(specifier)) return undefined;
  return `imports ${specifier}. This floor has zod and nothing else: put the package behind a port, in adapters/`;
}

function wrongFloor(file: string, target: string): string | undefined {
  if (file.startsWith('web/')) {
    if (target.startsWith('web/') || target === 'src/http/wire.ts' || target === 'src/client/index.ts')
      return undefined;
    return `imports ${target}. The page knows the server by src/http/wire.ts, and speaks to it by src/client/index.ts: put what both need there`;
  }
  const from = roomOf(file);
  const to = roomOf(target);
  if (from === 'client' && from !== to && to !== 'base' && target !== 'src/http/wire.ts')
    return `imports ${target}. The client runs in browsers and knows the server by src/http/wire.ts alone: put what both need there`;
  if (from === undefined || from === to) return undefined; // src/index.ts shows what all rooms offer
  const [here, there] = [floors[from] ?? 0, floors[to ?? ''] ?? Infinity];
  if (there < here) return undefined;
  const what = there === here ? `its neighbour ${String(to)}/` : 'a higher floor';
  return `imports ${target}, which is on ${what}. Move what both need to a lower floor, or pass it in from platform/`;
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) {
      const circle = [...trail.slice(start), file].join(' → ');
      found.push(`${circle} is a circle of imports. Move what they share into a file that imports none of them.`);
    } else if (!finished.has(file)) {
      for (const target of graph.get(file) ?? []) visit(target, [...trail, file]);
      finished.add(file);
    }
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

test('the sources keep the rules of the house', (t) => {
  const root = path.join(import.meta.dirname, '..');
  const names = globSync(['src/**/*.{ts,tsx}', 'web/**/*.{ts,tsx}', 'test/**/*.ts'], { cwd: root })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => !/(^|\/)(node_modules|dist)\//.test(name));
  const files = new Map(names.sort().map((name) => [name, readFileSync(path.join(root, name), 'utf8')]));
  for (const [name, text] of files) {
    const lines = text.split('\n').length - 1;
    if (source.test(name) && lines > 300) t.diagnostic(`${name} has ${lines} lines: is it about two things?`);
  }
  const found = complaints(files);
  assert.ok(found.length === 0, `\n${found.join('\n')}\n`);
});

const samples: readonly (readonly [file: string, text: string, says: string])[] = [
  ['src/domain/a.ts', "import { x } from '../kernel/x.ts';", 'src/kernel/x.ts, which is on a higher floor'],
  ['src/domain/a.ts', "import type { X } from '../kernel/x.ts';", 'a higher floor'],
  ['src/domain/a.ts', "export * from '../index.ts';", 'a higher floor'],
  ['src/loop/a.ts', "const x = await import('../plugins/x.ts');", 'its neighbour plugins/'],
  ['src/http/a.ts', "import { x } from '../cli/x.ts';", 'src/cli/x.ts, which is on a higher floor'],
  ['src/client/a.ts', "import { x } from '../domain/x.ts';", 'knows the server by src/http/wire.ts alone'],
  ['src/client/a.ts', "import { x } from 'node:fs';", 'touch Node'],
  ['src/domain/a.ts', "import { x } from '../../bench/x.ts';", 'a higher floor'],
  [
    'web/a.ts',
    "import { x } from '../src/domain/x.ts';",
    'by src/http/wire.ts, and speaks to it by src/client/index.ts',
  ],
  ['src/domain/a.ts', "import { x } from './a.ts';", 'src/domain/a.ts → src/domain/a.ts is a circle'],
  ['src/plugins/a.ts', "import { x } from 'node:fs';", 'Only adapters, platform, http and cli touch Node'],
  ['src/base/digest.ts', "import { x } from 'node:fs';", 'touch Node'],
  ['src/assembly/a.ts', "import { x } from 'yaml';", 'zod and nothing else'],
  ['src/loop/a.ts', "import { x } from 'zod-like';", 'zod and nothing else'],
  ['src/shed/a.ts', '', 'in no room of the house'],
  ['src/a.ts', '', 'in no room of the house'],
  ['src/http/utils.ts', '', 'is called utils'],
  ['src/http/helpers/a.ts', '', 'is called helpers'],
  ['src/http/a.ts', '\n\nDate.now();', 'src/http/a.ts:3 reads the system clock'],
  ['src/http/a.ts', 'new Date();', 'reads the system clock'],
  ['src/http/a.ts', 'Math.random();', 'take an IdSource'],
  ['src/http/a.ts', "import { randomUUID } from 'node:crypto';", 'take an IdSource'],
  ['src/http/a.ts', 'process.env.HOME;', 'reads the environment'],
  ['src/http/a.ts', "JSON.parse('1');", 'Use parseJson'],
  ['src/http/a.ts', "console.error('x');", 'Only cli/ speaks'],
  ['src/domain/a.ts', 'async function f() {}', 'only decides'],
  ['src/assembly/a.ts', 'let x: Promise<void>;', 'only decides'],
  ['src/loop/next.ts', 'await x;', 'only decides'],
  ['src/http/a.ts', 'let x: any;', 'Say `unknown`'],
  ['src/http/a.ts', 'export default function f() {}', 'Export it by name'],
  ['src/http/a.ts', 'export default 1;', 'Export it by name'],
  ['src/http/a.ts', 'export { a as default };', 'Export it by name'],
  ['src/http/a.ts', 'enum X { a }', 'union of strings'],
  ['src/http/a.ts', 'namespace X {}', 'or a file'],
  ['src/http/a.ts', 'class A extends B {}', 'Only errors do'],
  ['src/http/a.ts', '// @ts-ignore', 'silences the compiler'],
  ['src/http/a.ts', '/* FIXME: later */', 'leaves work for later'],
  ['src/http/a.ts', 'const vetoReason = 1;', 'Our word is deny'],
  ['src/http/a.ts', 'class A { #guardrail = 1; }', 'Our word is gate'],
  ['src/http/a.ts', 'f({ THREAD_ID: 1 });', 'Our word is conversation'],
  ['src/http/a.ts', 'type Journal = 1;', 'Our word is log'],
  ['test/a.test.ts', "test.only('x');", 'leaves tests out'],
  ['src/http/a.test.ts', "describe.skip('x');", 'leaves tests out'],
];

test('each rule can fail', () => {
  for (const [file, text, says] of samples) {
    const said = complaints(new Map([[file, text]]));
    assert.equal(said.length, 1, `${file} with «${text}» should break one rule and broke:\n${said.join('\n')}`);
    assert.ok(said[0]?.includes(says), `${file} with «${text}» should be told “${says}”, not: ${String(said[0])}`);
  }
});

test('what is allowed stays allowed', () => {
  const allowed: Files = new Map([
    ['src/domain/a.ts', "import { z } from 'zod';\nimport { x } from '../base/x.ts';\nconst threads = 'veto any';"],
    ['src/base/digest.ts', "import { createHash } from 'node:crypto'; // await the default export"],
    ['src/base/clock.ts', 'Date.now(); new Date(0); switch (x) { default: }'],
    ['src/base/ids.ts', 'Math.random(); crypto.randomUUID();'],
    ['src/base/json.ts', "JSON.parse('1'); JSON.stringify(1);"],
    ['src/platform/bundle/environment.ts', 'process.env.HOME;'],
    ['src/cli/main.ts', "import { text } from './text.ts';\nimport process from 'node:process';\nconsole.log(text);"],
    ['src/adapters/stores/a.ts', "import { x } from 'node:fs';\nimport y from 'yaml';\nawait x;"],
    ['src/kernel/a.ts', 'class Refused extends RangeError implements A {}\ninterface B extends A {}'],
    ['src/kernel/b.ts', "import { a } from './a.ts';"],
    ['src/index.ts', "export * from './http/a.ts';"],
    ['src/client/a.ts', "import { x } from '../http/wire.ts';\nimport { y } from '../base/y.ts';"],
    ['src/domain/a.test.ts', "import { test } from 'node:test';\nconst x = Date.now() + Math.random();"],
    ['web/page.tsx', "import { wire } from '../src/http/wire.ts';\nimport { x } from './x.ts';"],
    ['web/ask.ts', "import { createClient } from '../src/client/index.ts';"],
  ]);
  assert.deepEqual(complaints(allowed), []);
});
