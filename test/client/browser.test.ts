import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import ts from 'typescript';

/** Everything that is loaded with a file: what is imported for its types is gone by then. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.endsWith('.ts')) return seen;
  const source = stripTypeScriptTypes(readFileSync(file, 'utf8'));
  for (const { fileName } of ts.preProcessFile(source).importedFiles)
    loadedWith(fileName.startsWith('.') ? path.join(path.dirname(file), fileName) : fileName, seen);
  return seen;
}

test('the client loads nothing of Node or of the server, and one package', () => {
  const src = path.join(import.meta.dirname, '../../src');
  const rooms = new Set(
    [...loadedWith(path.join(src, 'client/index.ts'))].map((file) =>
      path.isAbsolute(file) ? path.relative(src, file).split(path.sep)[0] : file,
    ),
  );
  assert.deepEqual([...rooms].sort(), ['base', 'client', 'eventsource-parser']);
});
