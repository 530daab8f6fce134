import type { Node, Parser } from 'web-tree-sitter';
import type { ParsedCommand, ShellStep } from '../../kernel/shell.ts';
import { unwrap } from './wrappers.ts';
import { wordOf } from './words.ts';

/** Levels of commands in commands that are read. */
const DEEPEST = 8;
const LONGEST = 20_000;

/** What the grammar calls the parts of a command of which everything is known. Any other part leaves something open. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['program', 'list', 'pipeline', 'command', 'command_name', 'word', 'string', 'string_content', 'raw_string'],
  ...['concatenation', 'number', 'redirected_statement', 'file_redirect', 'file_descriptor', 'negated_command'],
  ...['heredoc_redirect', 'heredoc_start', 'heredoc_body', 'heredoc_content', 'heredoc_end', 'herestring_redirect'],
  ...['command_substitution', 'process_substitution', 'subshell', 'compound_statement', 'simple_expansion'],
  ...[
    'variable_name',
    'special_variable_name',
    'comment',
    'if_statement',
    'elif_clause',
    'else_clause',
    'while_statement',
  ],
  ...['for_statement', 'do_group', 'case_statement', 'case_item', 'extglob_pattern', 'test_command'],
  ...['unary_expression', 'binary_expression', 'test_operator', 'parenthesized_expression', 'regex'],
]);

/** Parts that change what others stand for, or run what nobody can read. */
const WHY: Readonly<Record<string, string>> = {
  ERROR: 'it is no whole command',
  variable_assignment: 'it sets variables',
  variable_assignments: 'it sets variables',
  declaration_command: 'it sets variables',
  unset_command: 'it takes variables away',
  function_definition: 'it defines a function',
  expansion: 'it computes with a variable',
  arithmetic_expansion: 'it computes',
  ansi_c_string: 'it writes characters by their numbers',
  translated_string: 'it has a text that is translated',
  brace_expression: 'it makes several words of one',
};

/** Characters that look like something else, or like nothing. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const OTHER_SPACES = /[^\P{Zs} ]/u;

/** Reads a command, and every command in it. */
export function parseCommand(parser: Parser, command: string): ParsedCommand {
  const steps: ShellStep[] = [];
  const redirects: ShellStep[] = [];
  const unclear = new Set<string>();
  read(command, 0);
  return { steps, redirects, unclear: [...unclear] };

  function read(text: string, depth: number): void {
    if (depth > DEEPEST) return void unclear.add('commands are in commands too deep');
    if (text.length > LONGEST) return void unclear.add(`it is longer than ${LONGEST} characters`);
    if (HIDDEN.test(text.replaceAll(/[\n\t]/g, ''))) unclear.add('it has characters that cannot be seen');
    if (OTHER_SPACES.test(text)) unclear.add('it has spaces that are none to a shell');
    // To a shell the word is one, to the grammar it is two.
    if (/\S\\\n/.test(text)) unclear.add('a line goes on within a word');
    const tree = parser.parse(text);
    if (tree === null) return void unclear.add('it is no whole command');
    if (tree.rootNode.hasError) unclear.add('it is no whole command');
    visit(tree.rootNode, depth);
    tree.delete();
  }

  function visit(node: Node, depth: number): void {
    if (node.isNamed && (!KNOWN.has(node.type) || node.isMissing)) {
      unclear.add(WHY[node.type] ?? `it has a part that is not understood (${node.type.replaceAll('_', ' ')})`);
    }
    if (node.type === 'command') stepIn(node, depth);
    else if (node.type === 'file_redirect') redirectIn(node);
    for (const child of node.children) visit(child, depth);
  }

  function stepIn(node: Node, depth: number): void {
    const words = node.namedChildren.filter((one) => !/_redirect$|^variable_assignment$|^comment$/.test(one.type));
    const [name, ...given] = words;
    if (name === undefined) return;
    const program = wordOf(name);
    if (program === undefined) unclear.add('which program it runs is only known when it runs');
    else if (/[^\x21-\x7e]/.test(program)) unclear.add('a program has letters in its name that look like others');
    // A pattern or a variable without quotes may become any number of words.
    follow({ program, args: given.map(wordOf) }, depth);
  }

  function follow(step: ShellStep, depth: number): void {
    if (depth > DEEPEST) return void unclear.add('commands are in commands too deep');
    steps.push(step);
    if (step.program === undefined) unclear.add('which program it runs is only known when it runs');
    const inner = unwrap(step);
    if (inner?.unclear !== undefined) unclear.add(inner.unclear);
    for (const one of inner?.steps ?? []) follow(one, depth + 1);
    for (const script of inner?.scripts ?? []) read(script, depth + 1);
  }

  function redirectIn(node: Node): void {
    const operator = node.children.find((one) => !one.isNamed)?.type ?? '';
    const target = node.childForFieldName('destination');
    const word = target === null ? undefined : wordOf(target);
    if (/^[<>]&-?$/.test(operator) && (word === undefined ? operator.endsWith('-') : /^\d+-?$|^-$/.test(word))) return;
    if (word === '/dev/null') return;
    // A way back up leads to a file that no rule about its folder means.
    const file = word !== undefined && /(^|\/)\.\.(\/|$)/.test(word) ? undefined : word;
    redirects.push({ program: operator.startsWith('<') && operator !== '<>' ? '<' : '>', args: [file] });
  }
}
