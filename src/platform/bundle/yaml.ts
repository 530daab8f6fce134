import {
  LineCounter,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Document,
  type Node,
  type YAMLError,
} from 'yaml';
import { TreadleError } from '../../base/errors.ts';
import { forbiddenKey, type Json } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import type { Problems } from './problems.ts';

/** Values that a file may come to once aliases are followed: enough for any bundle, too few to fill the memory. */
const MOST_VALUES = 50_000;
const DEEPEST = 100;

/** Where in the text a value and its key begin. */
interface Spot {
  readonly key: number;
  readonly value: number;
}

/** A YAML file as plain data that remembers where each value stands. */
export interface YamlSource {
  readonly value: Json;
  /** `file:line:column  path`, of the key where there is one; of the nearest value around it when there is none. */
  readonly place: (path: Path) => string;
  /** The same, of the value. */
  readonly valuePlace: (path: Path) => string;
  /** How far into the text the key is, to tell problems in the order of the file. */
  readonly offset: (path: Path) => number;
}

/** Changes a string that is a value, or reports why it cannot. */
export type MapString = (text: string, path: Path, place: () => string) => string;

/**
 * Read YAML 1.2 as JSON data.
 *
 * What is not well-formed, or not JSON, is added to `problems`, and what could be read is returned: undefined when that
 * is nothing at all.
 */
export function readYaml(text: string, file: string, problems: Problems, mapString: MapString): YamlSource | undefined {
  const lines = new LineCounter();
  const at = (offset: number, path: Path = []) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}${path.length === 0 ? '' : `  ${pathText(path)}`}`;
  };
  const document = parse(text, lines, file);
  for (const error of [...document.errors, ...document.warnings]) {
    problems.add('bundle_yaml', { place: at(error.pos[0]), ...complaint(error, text) });
  }
  if (problems.any) return undefined;
  if (document.directives?.yaml.version !== '1.2') {
    problems.add('bundle_yaml', {
      place: at(0),
      found: 'a %YAML directive',
      wanted: 'YAML 1.2',
      hint: 'remove the directive',
    });
    return undefined;
  }
  if (document.contents === null) {
    problems.add('bundle_yaml', { place: file, found: 'an empty file', wanted: 'a bundle', hint: 'start with `id:`' });
    return undefined;
  }
  const spots = new Map<string, Spot>();
  const reader = new Reader(document, spots, problems, at, mapString);
  const value = reader.read(document.contents, [], 0);
  const spot = (path: Path): Spot => {
    for (let length = path.length; length > 0; length--) {
      const found = spots.get(pathKey(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return { key: 0, value: 0 };
  };
  return {
    value,
    place: (path) => at(spot(path).key, path),
    valuePlace: (path) => at(spot(path).value, path),
    offset: (path) => spot(path).key,
  };
}

function parse(text: string, lines: LineCounter, file: string): Document {
  try {
    return parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      logLevel: 'error',
    });
  } catch (cause) {
    // The parser recurses; a file of brackets exhausts the stack.
    if (!(cause instanceof RangeError)) throw cause;
    throw new TreadleError('bundle_yaml', {
      place: file,
      found: 'values nested too deep',
      wanted: `at most ${DEEPEST} levels`,
      cause,
    });
  }
}

/** What the parser says, in our words where its own are for programmers. */
function complaint(
  { code, message, pos }: YAMLError,
  text: string,
): { readonly found: string; readonly wanted: string } {
  switch (code) {
    case 'DUPLICATE_KEY': {
      const [name = ''] = /^[^\s:,{}[\]]+/.exec(text.slice(pos[0])) ?? [];
      return { found: `the key ${name} a second time`, wanted: 'each key once' };
    }
    case 'MULTIPLE_DOCS':
      return { found: 'a second document', wanted: 'one document a file' };
    case 'NON_STRING_KEY':
      return { found: 'a key that is a list or a mapping', wanted: 'a word' };
    case 'TAB_AS_INDENT':
      return { found: 'a tab as indentation', wanted: 'spaces' };
    case 'TAG_RESOLVE_FAILED':
      return {
        found: message.replace(/^Unresolved tag: (tag:yaml\.org,2002:)?/, 'the tag '),
        wanted: 'a value without a tag',
      };
    default:
      if (message.includes('call stack'))
        return { found: 'values nested too deep', wanted: `at most ${DEEPEST} levels` };
      return { found: message.replace(/\.$/, ''), wanted: 'well-formed YAML' };
  }
}

class Reader {
  readonly #document: Document;
  readonly #spots: Map<string, Spot>;
  readonly #problems: Problems;
  readonly #at: (offset: number, path?: Path) => string;
  readonly #mapString: MapString;
  readonly #above = new Set<Node>();
  #values = 0;

  constructor(
    document: Document,
    spots: Map<string, Spot>,
    problems: Problems,
    at: (offset: number, path?: Path) => string,
    mapString: MapString,
  ) {
    this.#document = document;
    this.#spots = spots;
    this.#problems = problems;
    this.#at = at;
    this.#mapString = mapString;
  }

  read(node: Node | null, path: Path, keyOffset: number): Json {
    const offset = node?.range?.[0] ?? keyOffset;
    this.#spots.set(pathKey(path), { key: path.length === 0 ? offset : keyOffset, value: offset });
    if (node === null) return null;
    this.#values++;
    if (this.#values > MOST_VALUES) return this.#refuse(offset, path, 'too many values', `at most ${MOST_VALUES}`);
    if (this.#above.has(node)) return this.#refuse(offset, path, 'an alias that contains itself', 'a value');
    if (path.length > DEEPEST) return this.#refuse(offset, path, 'values nested too deep', `at most ${DEEPEST} levels`);
    this.#above.add(node);
    const value = this.#value(node, path, offset);
    this.#above.delete(node);
    return value;
  }

  #value(node: Node, path: Path, offset: number): Json {
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target !== undefined) return this.read(target, path, offset);
      return this.#refuse(offset, path, `an alias of nothing, *${node.source}`, `an anchor &${node.source} before it`);
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const child = item as Node | null; // parsed, not made by hand: every item is a node
        return this.read(child, [...path, index], child?.range?.[0] ?? offset);
      });
    }
    if (isMap(node)) return this.#map(node.items, path);
    if (!isScalar(node)) return this.#refuse(offset, path, 'a value that is not data', 'a value');
    const { value } = node;
    if (typeof value === 'string') return this.#mapString(value, path, () => this.#at(offset, path));
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    return this.#refuse(offset, path, `a ${node.tag ?? 'tagged'} value`, 'text, a number, true or false');
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[], path: Path): Json {
    const entries: [string, Json][] = [];
    for (const { key, value } of items) {
      if (!isScalar(key) || typeof key.value !== 'string') continue; // the parser has complained
      const name = key.value;
      const offset = key.range?.[0] ?? 0;
      if (forbiddenKey(Object.fromEntries([[name, null]])) !== undefined) {
        this.#refuse(offset, [...path, name], `a key called ${name}`, 'another name');
        continue;
      }
      entries.push([name, this.read(value as Node | null, [...path, name], offset)]); // parsed: a node or nothing
    }
    return Object.fromEntries(entries);
  }

  #refuse(offset: number, path: Path, found: string, wanted: string): null {
    // One bomb is one problem, not as many as it has parts.
    if (this.#values <= MOST_VALUES + 1)
      this.#problems.add('bundle_yaml', { place: this.#at(offset, path), found, wanted });
    return null;
  }
}

/** `config.react.main.tools[2]`; a key that is not a plain word stands in brackets. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'string' && /^[\w@-]+$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

function pathKey(path: Path): string {
  return JSON.stringify(path);
}
