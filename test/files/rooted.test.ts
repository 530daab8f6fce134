// Nothing leads out of the root: not a name, not a link, not what changes between a look and a use.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRootedFiles, type RootedFilesOptions } from '../../src/adapters/files/rooted.ts';
import { FileRefusal, type RootedFiles } from '../../src/kernel/files.ts';

interface Ending {
  after(undo: () => unknown): void;
}

/** A root with a secret beside it. */
function aRoot(t: Ending, options: Partial<RootedFilesOptions> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-root-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const root = path.join(folder, 'root');
  mkdirSync(path.join(root, 'src'), { recursive: true });
  mkdirSync(path.join(folder, 'root-beside'));
  writeFileSync(path.join(folder, 'secret.txt'), 'secret');
  writeFileSync(path.join(folder, 'root-beside', 'secret.txt'), 'secret');
  writeFileSync(path.join(root, 'src', 'a.txt'), 'one\n');
  return { folder, root, files: createRootedFiles({ root, ...options }) };
}

async function codeOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
    return 'done';
  } catch (error) {
    if (error instanceof FileRefusal) return error.code;
    throw error;
  }
}

const out = [
  '../secret.txt',
  'src/../../secret.txt',
  '../root-beside/secret.txt',
  '/etc/passwd',
  '~/x',
  '~',
  'src/../../root-beside/secret.txt',
];
for (const named of out) {
  test(`${named} is outside for reading, writing, listing and removing`, async (t) => {
    const { files, folder } = aRoot(t);
    const codes = [
      await codeOf(files.read(named)),
      await codeOf(files.write(named, 'x')),
      await codeOf(files.remove(named)),
      await codeOf(files.list(named)),
    ];
    assert.deepEqual(codes, ['outside', 'outside', 'outside', 'outside']);
    assert.equal(readFileSync(path.join(folder, 'secret.txt'), 'utf8'), 'secret');
  });
}

test('a path with a NUL is no path', async (t) => {
  const { files } = aRoot(t);
  assert.equal(await codeOf(files.read('src/a.txt\0.png')), 'bad_path');
});

test('an absolute path in the root is taken as what it is', async (t) => {
  const { files, root } = aRoot(t);
  assert.equal(await files.readText(path.join(root, 'src/a.txt')), 'one\n');
});

test('a link that leads out is neither read, written, listed nor gone through', async (t) => {
  const { files, folder, root } = aRoot(t);
  symlinkSync(path.join(folder, 'secret.txt'), path.join(root, 'link'));
  symlinkSync(folder, path.join(root, 'up'));
  const codes = [
    await codeOf(files.read('link')),
    await codeOf(files.write('link', 'x')),
    await codeOf(files.read('up/secret.txt')),
    await codeOf(files.write('up/new.txt', 'x')),
    await codeOf(files.write('up/new/new.txt', 'x')),
    await codeOf(files.list('up')),
  ];
  assert.deepEqual(new Set(codes), new Set(['outside']));
  assert.deepEqual(
    (await files.list('')).map((one) => one.path),
    ['src'],
  );
  assert.equal(readFileSync(path.join(folder, 'secret.txt'), 'utf8'), 'secret');
});

test('a link that leads nowhere is not written through', async (t) => {
  const { files, folder, root } = aRoot(t);
  symlinkSync(path.join(folder, 'new.txt'), path.join(root, 'link'));
  symlinkSync(path.join(folder, 'new'), path.join(root, 'folder'));
  assert.deepEqual(
    [await codeOf(files.write('link', 'x')), await codeOf(files.write('folder/x', 'x'))],
    ['outside', 'outside'],
  );
  assert.deepEqual(readdirSync(folder).sort(), ['root', 'root-beside', 'secret.txt']);
});

test('a link within the root leads to what it names, and stays a link when that is written', async (t) => {
  const { files, root } = aRoot(t);
  symlinkSync('src/a.txt', path.join(root, 'link'));
  assert.equal((await files.write('link', 'two\n')).path, 'src/a.txt');
  assert.equal(readFileSync(path.join(root, 'src/a.txt'), 'utf8'), 'two\n');
  assert.equal(await files.readText('link'), 'two\n');
});

test('links in a circle are refused', async (t) => {
  const { files, root } = aRoot(t);
  symlinkSync('b', path.join(root, 'a'));
  symlinkSync('a', path.join(root, 'b'));
  assert.equal(await codeOf(files.read('a')), 'outside');
});

test('whatever folder becomes a link in the meantime, what is read and written is in the root', async (t) => {
  const { files, folder, root } = aRoot(t);
  mkdirSync(path.join(folder, 'evil'));
  writeFileSync(path.join(folder, 'evil', 'a.txt'), 'secret');
  const away = path.join(root, 'away');
  let isOver = false;
  const swap = async (): Promise<void> => {
    while (!isOver) {
      renameSync(path.join(root, 'src'), away);
      inPlaceOf(path.join(root, 'src'), (src) => symlinkSync(path.join(folder, 'evil'), src));
      await new Promise((resolve) => setImmediate(resolve));
      inPlaceOf(path.join(root, 'src'), (src) => renameSync(away, src));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const swapping = swap();
  const read = new Set<string>();
  for (let round = 0; round < 300; round++) {
    try {
      read.add(await files.readText('src/a.txt'));
    } catch (error) {
      assert.ok(error instanceof FileRefusal, String(error));
    }
    try {
      await files.write('src/a.txt', 'one\n');
    } catch (error) {
      assert.ok(error instanceof FileRefusal, String(error));
    }
  }
  isOver = true;
  await swapping;
  assert.deepEqual(
    [...read].filter((text) => text !== 'one\n'),
    [],
  );
  assert.equal(readFileSync(path.join(folder, 'evil', 'a.txt'), 'utf8'), 'secret');
  assert.deepEqual(readdirSync(path.join(folder, 'evil')), ['a.txt']);
});

/** Whoever writes may make the folder anew in between. */
function inPlaceOf(target: string, act: (target: string) => void): void {
  for (;;) {
    rmSync(target, { recursive: true, force: true });
    try {
      act(target);
      return;
    } catch {
      // It is there again.
    }
  }
}

test('devices, pipes and the files of processes are no files, also where the root is above them', async (t) => {
  const { files, root } = aRoot(t);
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  assert.equal(await codeOf(files.read('pipe')), 'not_a_file');
  assert.equal(await codeOf(files.write('pipe', 'x')), 'not_a_file');
  symlinkSync('/dev/zero', path.join(root, 'zero'));
  assert.equal(await codeOf(files.read('zero')), 'outside');
  const all = createRootedFiles({ root: '/' });
  assert.deepEqual(
    [await codeOf(all.read('/dev/zero')), await codeOf(all.read('proc/self/environ')), await codeOf(all.list('sys'))],
    ['outside', 'outside', 'outside'],
  );
});

test('what runs are logged in is hidden under every spelling, and git is read only', async (t) => {
  const { files, root } = aRoot(t);
  mkdirSync(path.join(root, '.treadle'));
  writeFileSync(path.join(root, '.treadle', 'treadle.db'), 'log');
  mkdirSync(path.join(root, '.git', 'hooks'), { recursive: true });
  writeFileSync(path.join(root, '.git', 'config'), 'x');
  for (const name of ['.treadle', '.TREADLE', '.trea\u200bdle', '.treadle.', '．treadle']) {
    assert.equal(await codeOf(files.read(`${name}/treadle.db`)), 'hidden', name);
    assert.equal(await codeOf(files.write(`${name}/x`, 'x')), 'hidden', name);
  }
  assert.equal(await files.readText('.git/config'), 'x');
  for (const name of ['.git/hooks/pre-commit', '.GIT/config', 'src/.g\u200dit/config', '.git/new/x']) {
    assert.equal(await codeOf(files.write(name, 'x')), 'hidden', name);
  }
  assert.deepEqual(
    (await files.list('')).map((one) => one.path),
    ['.git', 'src'],
  );
});

test('what the bundle ignores is not there, by whatever name', async (t) => {
  const { files, root } = aRoot(t, { ignore: ['.env*', 'private/'] });
  writeFileSync(path.join(root, '.env.local'), 'KEY=1');
  mkdirSync(path.join(root, 'private'));
  writeFileSync(path.join(root, 'private', 'x'), 'x');
  symlinkSync('.env.local', path.join(root, 'open.txt'));
  const codes = [
    await codeOf(files.read('.env.local')),
    await codeOf(files.read('open.txt')),
    await codeOf(files.read('private/x')),
    await codeOf(files.write('private/y', 'y')),
    await codeOf(files.write('.ENV', 'y')),
  ];
  assert.deepEqual(new Set(codes), new Set(['hidden']));
});

test('a read-only root is not written, whatever is asked', async (t) => {
  const { files } = aRoot(t, { readOnly: true });
  assert.deepEqual(
    [
      await codeOf(files.write('x', 'x')),
      await codeOf(files.write('src/a.txt', 'x')),
      await codeOf(files.remove('src/a.txt')),
    ],
    ['read_only', 'read_only', 'read_only'],
  );
});

test('a file beyond the limit is neither read nor written', async (t) => {
  const { files, root } = aRoot(t, { mostBytes: 1_024 });
  writeFileSync(path.join(root, 'big'), 'x'.repeat(1_025));
  assert.deepEqual(
    [await codeOf(files.read('big')), await codeOf(files.write('b', 'x'.repeat(1_025)))],
    ['too_large', 'too_large'],
  );
});

test('what is not UTF-8 is no text', async (t) => {
  const { files, root } = aRoot(t);
  writeFileSync(path.join(root, 'latin'), Buffer.from([0x66, 0xfc]));
  assert.equal(await codeOf(files.readText('latin')), 'not_text');
});

test('writing keeps the mode of a file and makes the folders of a new one', async (t) => {
  const { files, root } = aRoot(t);
  chmodSync(path.join(root, 'src/a.txt'), 0o750);
  await files.write('src/a.txt', 'two');
  await files.write('new/deep/b.txt', 'b');
  assert.equal(statSync(path.join(root, 'src/a.txt')).mode & 0o777, 0o750);
  assert.equal(readFileSync(path.join(root, 'new/deep/b.txt'), 'utf8'), 'b');
  assert.deepEqual(readdirSync(path.join(root, 'src')), ['a.txt']);
});

test('a look right before the end may keep the old content', async (t) => {
  const { files, root } = aRoot(t);
  const unless = (): void => {
    throw new FileRefusal('not_allowed', 'no');
  };
  assert.equal(await codeOf(files.write('src/a.txt', 'two', { unless })), 'not_allowed');
  assert.equal(readFileSync(path.join(root, 'src/a.txt'), 'utf8'), 'one\n');
  assert.deepEqual(readdirSync(path.join(root, 'src')), ['a.txt']);
});

test('progress is told after every 16 KiB, in and out', async (t) => {
  const { files } = aRoot(t);
  const told: [number, number][] = [];
  const progress = (done: number, total: number): void => void told.push([done, total]);
  await files.write('big', Buffer.alloc(40_000), { progress });
  await files.read('big', { progress });
  assert.deepEqual(told, [
    [16_384, 40_000],
    [32_768, 40_000],
    [40_000, 40_000],
    [16_384, 40_000],
    [32_768, 40_000],
    [40_000, 40_000],
  ]);
});

test('no path, however it is put together, reads or writes anything outside', async (t) => {
  const { files, folder, root } = aRoot(t);
  symlinkSync(folder, path.join(root, 'up'));
  symlinkSync('../..', path.join(root, 'src', 'twice'));
  symlinkSync('src', path.join(root, 'in'));
  const piece = fc.constantFrom(
    '..',
    '.',
    'src',
    'up',
    'in',
    'twice',
    'root',
    'a.txt',
    'secret.txt',
    'root-beside',
    '',
    'new',
  );
  const named = fc.tuple(fc.boolean(), fc.array(piece, { maxLength: 7 }));
  await fc.assert(
    fc.asyncProperty(named, async ([isAbsolute, pieces]) => {
      const given = `${isAbsolute ? `${root}/` : ''}${pieces.join('/')}`;
      const read = await attempt(files, (all) => all.readText(given));
      assert.notEqual(read, 'secret');
      await attempt(files, (all) => all.write(given, 'written'));
      await attempt(files, (all) => all.list(given));
    }),
    { numRuns: 300 },
  );
  assert.deepEqual(readdirSync(folder).sort(), ['root', 'root-beside', 'secret.txt']);
  assert.equal(readFileSync(path.join(folder, 'secret.txt'), 'utf8'), 'secret');
  assert.equal(readFileSync(path.join(folder, 'root-beside', 'secret.txt'), 'utf8'), 'secret');
});

async function attempt<T>(files: RootedFiles, act: (files: RootedFiles) => Promise<T>): Promise<T | undefined> {
  try {
    return await act(files);
  } catch (error) {
    assert.ok(error instanceof FileRefusal, String(error));
    return undefined;
  }
}
