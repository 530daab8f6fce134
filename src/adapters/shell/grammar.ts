import { fileURLToPath } from 'node:url';
import type { Parser } from 'web-tree-sitter';
import { optionalPackage } from '../modules/optional-package.ts';

let opened: Promise<Parser> | undefined;

/** The parser of shell commands, loaded with the first one. Throws `package_missing`. */
export function shellParser(): Promise<Parser> {
  return (opened ??= open());
}

const NEEDED = { purpose: 'builtin/shell', needs: ['web-tree-sitter', 'tree-sitter-bash'] };

async function open(): Promise<Parser> {
  const { Parser, Language } = await optionalPackage(() => import('web-tree-sitter'), NEEDED);
  const grammar = await optionalPackage(
    async () => import.meta.resolve('tree-sitter-bash/tree-sitter-bash.wasm'),
    NEEDED,
  );
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(fileURLToPath(grammar)));
  return parser;
}
