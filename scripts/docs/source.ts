// What the sources say in comments and types, which no schema has: read from the syntax tree.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '../..');

export interface Member {
  readonly name: string;
  readonly optional: boolean;
  /** The type as it is written, on one line. */
  readonly type: string;
  readonly about: string;
}

export function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

/** The members of an interface, in order. */
export function membersOf(tree: ts.SourceFile, name: string): readonly Member[] {
  const found = tree.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  if (found === undefined || !ts.isInterfaceDeclaration(found)) throw new Error(`${tree.fileName} has no ${name}`);
  return typeMembers(found.members);
}

/** The members of a type literal such as `{ readonly text: string }`; none of any other type. */
export function literalMembers(text: string): readonly Member[] {
  const tree = ts.createSourceFile('type.ts', `type T = ${text};`, ts.ScriptTarget.Latest, true);
  const [alias] = tree.statements;
  if (alias === undefined || !ts.isTypeAliasDeclaration(alias) || !ts.isTypeLiteralNode(alias.type)) return [];
  return typeMembers(alias.type.members);
}

function typeMembers(members: ts.NodeArray<ts.TypeElement>): readonly Member[] {
  return members.filter(ts.isPropertySignature).map((member) => ({
    name: ts.isStringLiteral(member.name) || ts.isIdentifier(member.name) ? member.name.text : member.name.getText(),
    optional: member.questionToken !== undefined,
    type: member.type?.getText() ?? 'unknown',
    about: commentOf(member),
  }));
}

/** Comments of the keys of schemas, by the name of the constant and then by key. */
export class Comments {
  readonly #constants = new Map<string, ts.Expression>();

  constructor(trees: readonly ts.SourceFile[]) {
    for (const tree of trees) {
      for (const statement of tree.statements) {
        if (!ts.isVariableStatement(statement)) continue;
        for (const { name, initializer } of statement.declarationList.declarations)
          if (ts.isIdentifier(name) && initializer !== undefined) this.#constants.set(name.text, initializer);
      }
    }
  }

  /** Of a schema that is a constant. */
  of(constant: string): ReadonlyMap<string, string> {
    const found = this.#constants.get(constant);
    return new Map(found === undefined ? [] : this.#read(found));
  }

  /** Of the payload of a fact, which stands in a table such as `turnFacts`. */
  ofFact(type: string): ReadonlyMap<string, string> {
    const property = [...this.#constants]
      .filter(([constant]) => constant.endsWith('Facts'))
      .flatMap(([, table]) => literalOf(table)?.properties ?? [])
      .find((one) => nameOf(one) === type);
    const value = property !== undefined && ts.isPropertyAssignment(property) ? property.initializer : undefined;
    const payload =
      value !== undefined && ts.isObjectLiteralExpression(value)
        ? value.properties.find((one) => nameOf(one) === 'payload')
        : undefined;
    if (payload === undefined || !ts.isPropertyAssignment(payload)) return new Map();
    return new Map(this.#read(payload.initializer));
  }

  /** `z.strictObject({…})`, `a.extend({…})`, `a.pick(…)` and names of other constants. */
  *#read(expression: ts.Expression): Generator<readonly [string, string]> {
    if (ts.isIdentifier(expression)) {
      const constant = this.#constants.get(expression.text);
      if (constant !== undefined) yield* this.#read(constant);
      return;
    }
    if (!ts.isCallExpression(expression)) return;
    if (ts.isPropertyAccessExpression(expression.expression)) yield* this.#read(expression.expression.expression);
    const [given] = expression.arguments;
    if (given === undefined || !ts.isObjectLiteralExpression(given)) return;
    for (const property of given.properties) {
      const name = nameOf(property);
      const about = commentOf(property);
      if (name !== undefined && about !== '') yield [name, about];
    }
  }
}

function literalOf(expression: ts.Expression): ts.ObjectLiteralExpression | undefined {
  if (ts.isObjectLiteralExpression(expression)) return expression;
  if (ts.isSatisfiesExpression(expression) || ts.isAsExpression(expression)) return literalOf(expression.expression);
  return undefined;
}

function nameOf(property: ts.ObjectLiteralElementLike): string | undefined {
  const { name } = property;
  return name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : undefined;
}

function commentOf(node: ts.Node): string {
  const text = node.getSourceFile().text;
  const [comment] = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  if (comment === undefined || !text.startsWith('/**', comment.pos)) return '';
  return text
    .slice(comment.pos + 3, comment.end - 2)
    .replaceAll(/\s*\n\s*\*? ?/g, ' ')
    .trim();
}
