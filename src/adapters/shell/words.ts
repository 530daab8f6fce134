import type { Node } from 'web-tree-sitter';
import type { ShellWord } from '../../kernel/shell.ts';

/** Nothing in it is anything to a shell but itself. */
const PLAIN = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** The text of a word, where it is the same whatever is in the environment and on the disk. */
export function wordOf(node: Node): ShellWord {
  if (node.text === '{}') return '{}'; // to `find`; to bash it is nothing but itself
  switch (node.type) {
    case 'command_name': {
      const [only] = node.namedChildren;
      return only === undefined ? undefined : wordOf(only);
    }
    case 'word':
    case 'number':
      return plainWord(node.text);
    case 'raw_string':
      return node.text.slice(1, -1);
    case 'string':
      return stringOf(node);
    case 'concatenation': {
      const parts = node.namedChildren.map(wordOf);
      return parts.some((one) => one === undefined) ? undefined : parts.join('');
    }
    default:
      return undefined;
  }
}

/** Without the backslashes before single characters; undefined for a pattern, a tilde or a brace, which become other words. */
function plainWord(text: string): ShellWord {
  if (PLAIN.test(text)) return text;
  const bare = text.replaceAll('\\\n', '');
  if (/(^|[^\\])(\\\\)*[*?[\]{}]|(^|[:=])~/.test(bare) || /[^\x20-\x7e]/.test(bare)) return undefined;
  return bare.replaceAll(/\\(.)/g, '$1');
}

function stringOf(node: Node): ShellWord {
  if (node.namedChildren.some((one) => one.type !== 'string_content')) return undefined;
  return node.text
    .slice(1, -1)
    .replaceAll('\\\n', '')
    .replaceAll(/\\([$`"\\])/g, '$1');
}
