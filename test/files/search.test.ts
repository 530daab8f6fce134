// Looking through files gives the same with ripgrep and without it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { compilePattern, plainGrep } from '../../src/adapters/files/plain-grep.ts';
import { ripgrep } from '../../src/adapters/files/ripgrep.ts';
import { createRootedFiles } from '../../src/adapters/files/rooted.ts';
import { fileSearch } from '../../src/adapters/files/search.ts';
import type { GrepQuery } from '../../src/kernel/file-search.ts';

interface Ending {
  after(undo: () => unknown): void;
}

const signal = new AbortController().signal;

function aTree(t: Ending) {
  const root = mkdtempSync(path.join(tmpdir(), 'treadle-search-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const content: Readonly<Record<string, string | Buffer>> = {
    '.gitignore': 'node_modules/\n*.log\n!keep.log\n/only-root.txt\n',
    '.hidden/x.ts': 'const hidden = 1;\n',
    '.git/config': 'const git = 1;\n',
    'a.ts': 'const one = 1;\r\nconst two = 22;\r\n',
    'a/b.ts': 'function foo() {\n  return "bar";\n}\n\n// foo again\n',
    'a/.gitignore': 'made/\n!important.log\n',
    'a/made/x.ts': 'const made = 1;\n',
    'a/important.log': 'const important = 1;\n',
    'a/only-root.txt': 'const deep = 1;\n',
    'only-root.txt': 'const root = 1;\n',
    'debug.log': 'const log = 1;\n',
    'keep.log': 'const kept = 1;\n',
    'node_modules/x/index.js': 'const module = 1;\n',
    'unicode.txt': 'Größe ٣ naïve\nconst émile = 1\nΣίσυφος\n',
    'bom.txt': '\ufeffconst bom = 1\n',
    'binary.bin': Buffer.from('const binary = 1;\n\0\n'),
    'latin.txt': Buffer.from([0x63, 0x6f, 0x6e, 0x73, 0x74, 0x20, 0xfc, 0x0a]),
    'no-end.txt': 'last const',
    'empty.txt': '',
    'tab.txt': 'a\tb\nx-y\n[bracket]\na.b\n$5\n',
  };
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  symlinkSync('a', path.join(root, 'link'));
  symlinkSync('/etc', path.join(root, 'etc'));
  return createRootedFiles({ root, ignore: ['empty.txt'] });
}

const all = { under: '', isLiteral: false, ignoreCase: false, context: 0, limit: 1_000 };

const patterns: readonly string[] = [
  ...[
    'const',
    '^const',
    'const$',
    'one|two',
    '\\d+',
    '\\D\\d',
    '\\bfoo\\b',
    '\\w+\\s=',
    'const\\s\\w+',
    '[a-c]\\t',
    '[\\d]{2}',
  ],
  ...[
    '[^a-z ]\\d',
    '\\Bo',
    'x-y',
    '\\[bracket\\]',
    'a\\.b',
    '\\$5',
    '.',
    '^$',
    '(?i)CONST',
    'gr(ö|o)ße',
    'Gr..e',
    '[[:alpha:]]+ٲ?',
  ],
  ...[
    '\\S+;$',
    'naïve',
    '[ä-ü]',
    '\\p{Greek}+',
    'Σ',
    'zzz',
    '[a&&b]',
    '\\Qa.b\\E',
    '[\\w-]+y',
    '"[^"]*"',
    '(foo|bar)+',
    'o{2}',
  ],
];

const queries: readonly (Partial<GrepQuery> & { readonly pattern: string })[] = [
  ...patterns.map((pattern) => ({ pattern })),
  ...['a.b', '$5', '[bracket]', '\\d', 'Größe', '(', '--help', '-e'].map((pattern) => ({ pattern, isLiteral: true })),
  ...['CONST', 'größE', 'σίσυφος'].map((pattern) => ({ pattern, ignoreCase: true })),
  ...[1, 2, 5].map((context) => ({ pattern: 'foo|two', context })),
  ...['*.ts', '**/*.ts', 'a/*.ts', '*.{ts,txt}', 'b.ts', '*'].map((glob) => ({ pattern: 'const|foo', glob })),
  ...['a', 'a/b.ts', '.hidden', 'a.ts', 'node_modules', 'debug.log'].map((under) => ({ pattern: 'const|foo', under })),
  ...[1, 2, 3, 7].map((limit) => ({ pattern: 'const', limit })),
  { pattern: 'const', limit: 2, context: 2 },
];

const hasRipgrep = isThere('rg');

test(
  'ripgrep finds what a look through the files finds',
  { skip: hasRipgrep ? false : 'rg is not installed' },
  async (t) => {
    const files = aTree(t);
    let asked = 0;
    for (const one of queries) {
      const query: GrepQuery = { ...all, ...one };
      const pattern = compilePattern(query);
      assert.ok(pattern.ok, `${query.pattern}: ${pattern.ok ? '' : pattern.problem}`);
      const fast = await ripgrep(files, query, signal);
      if (fast === undefined) continue;
      asked++;
      assert.deepEqual(fast, await plainGrep(files, query, pattern.fits, signal), JSON.stringify(query));
    }
    assert.ok(asked > queries.length - 12, `${asked} of ${queries.length} were asked of ripgrep`);
  },
);

test('what another program says of a file counts only where the file says the same', async (t) => {
  const files = aTree(t);
  const lying = { ...files, read: () => Promise.resolve(Buffer.from('something else\n')) };
  const query = { ...all, pattern: 'const', isLiteral: true };
  assert.deepEqual(await fileSearch.grep(lying, query, signal), { ok: true, lines: [], isCut: false });
  const found = await fileSearch.grep(files, { ...query, glob: '*.ts' }, signal);
  assert.equal(found.ok && found.lines.length, 3);
});

test('what a .gitignore or the bundle leaves out, git keeps for itself or a link leads to is not found', async (t) => {
  const { paths } = await fileSearch.find(aTree(t), { under: '', glob: '**', limit: 100 }, signal);
  assert.deepEqual(paths, [
    '.gitignore',
    '.hidden/x.ts',
    'a/.gitignore',
    'a/b.ts',
    'a/important.log',
    'a/only-root.txt',
    'a.ts',
    'binary.bin',
    'bom.txt',
    'keep.log',
    'latin.txt',
    'no-end.txt',
    'tab.txt',
    'unicode.txt',
  ]);
});

test('a glob without a slash is about the name, one with a slash about the path from the folder', async (t) => {
  const files = aTree(t);
  const find = async (glob: string, under = '') =>
    (await fileSearch.find(files, { under, glob, limit: 100 }, signal)).paths;
  assert.deepEqual(await find('b.*'), ['a/b.ts']);
  assert.deepEqual(await find('*/*.ts'), ['.hidden/x.ts', 'a/b.ts']);
  assert.deepEqual(await find('*.ts', 'a'), ['a/b.ts']);
  assert.deepEqual(await find('../*'), []);
});

test('more than the limit is said to be cut', async (t) => {
  const found = await fileSearch.find(aTree(t), { under: '', glob: '*.txt', limit: 2 }, signal);
  assert.deepEqual(found, { paths: ['a/only-root.txt', 'bom.txt'], isCut: true });
});

test('a pattern that would take for ever elsewhere takes no time, and what RE2 does not have is told', async (t) => {
  const files = aTree(t);
  const found = await fileSearch.grep(files, { ...all, pattern: '(a+)+$', under: 'a/b.ts' }, signal);
  assert.equal(found.ok, true);
  for (const pattern of ['(?=a)', '(a)\\1', '(', 'a\nb']) {
    assert.equal((await fileSearch.grep(files, { ...all, pattern }, signal)).ok, false, pattern);
  }
});

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    if (process.env['CI'] === 'true') throw new Error(`${program} has to be there`);
    return false;
  }
}
