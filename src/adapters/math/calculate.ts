import { Decimal } from 'decimal.js';
import jsep from 'jsep';

/** The value of an expression as decimal text, or what is wrong with it in a sentence. */
export type Calculation =
  | { readonly ok: true; readonly value: string; readonly rounded: boolean }
  | { readonly ok: false; readonly problem: string };

/** Digits kept while calculating, and digits shown of what has more than that. */
const KEPT = 64;
const SHOWN = 34;
/** Beyond this the digits of an angle are all before the point: its sine says nothing. */
const LARGEST_ANGLE = 1e15;

const Exact = Decimal.clone({
  precision: KEPT,
  rounding: Decimal.ROUND_HALF_UP,
  // A power tower must end as an error, not as minutes of work.
  maxE: 5_000,
  minE: -5_000,
  toExpPos: KEPT + 1,
  toExpNeg: -20,
});

/** A mistake in the expression: the sentence is for whoever wrote it. */
class ExpressionError extends Error {}

/**
 * Works out an arithmetic expression in decimal.
 *
 * jsep reads it; only numbers, the operators and the functions below are given a meaning, so an expression can reach
 * nothing else. Never throws.
 */
export function calculate(expression: string): Calculation {
  try {
    const value = valueOf(parse(expression));
    // With fewer digits than were kept, none was lost.
    const rounded = value.precision() >= KEPT;
    return { ok: true, value: (rounded ? value.toSignificantDigits(SHOWN) : value).toString(), rounded };
  } catch (error) {
    if (error instanceof ExpressionError) return { ok: false, problem: error.message };
    throw error;
  }
}

/** Marks parentheses that only group, which jsep does not keep: -2 ^ 2 is -4 and (-2) ^ 2 is 4. */
const GROUP = '_';

function parse(expression: string): jsep.Expression {
  const text = expression
    .replaceAll('^', '**')
    .replaceAll(/[×·]/g, '*')
    .replaceAll('÷', '/')
    .replaceAll('−', '-')
    .replaceAll(/(?<![\p{L}\p{N}_$)]\s*)\(/gu, `${GROUP}(`);
  try {
    return jsep(text);
  } catch (error) {
    // Positions would be of the text as rewritten above, so they are left out.
    const found = error instanceof Error ? error.message.replace(/ at character \d+$/, '') : String(error);
    throw new ExpressionError(`This is not an arithmetic expression: ${found.replaceAll('**', '^')}.`);
  }
}

function valueOf(node: jsep.Expression): Decimal {
  const known = node as jsep.CoreExpression; // no plugin of jsep is installed that could make others
  switch (known.type) {
    case 'Literal':
      // The parser takes `.E0` for a number, which has no digit.
      if (typeof known.value !== 'number' || Number.isNaN(known.value))
        throw new ExpressionError(`${known.raw} is not a number.`);
      return finite(new Exact(known.raw), known.raw);
    case 'Identifier':
      return constant(known.name);
    case 'UnaryExpression':
      return signed(known.operator, valueOf(known.argument));
    case 'BinaryExpression':
      return binary(known);
    case 'CallExpression':
      return call(known);
    case 'Compound':
      throw new ExpressionError(
        known.body.length === 0
          ? 'The expression is empty.'
          : 'This is more than one expression. Write a sign between the parts, as in 2 * (3), and no comma in a number.',
      );
    default:
      throw new ExpressionError('Only numbers, + - * / % ^, parentheses, and the functions listed can be used.');
  }
}

function signed(operator: string, value: Decimal): Decimal {
  if (operator === '-') return value.negated();
  if (operator === '+') return value;
  throw new ExpressionError(`${operator} is not an operator here.`);
}

function binary({ operator, left, right }: jsep.BinaryExpression): Decimal {
  if (operator === '**') {
    // jsep binds a sign closer than a power; in arithmetic the power comes first.
    if (isSign(left))
      return signed(left.operator, binary({ type: 'BinaryExpression', operator, left: left.argument, right }));
    return finite(valueOf(left).pow(valueOf(right)), '^');
  }
  const [a, b] = [valueOf(left), valueOf(right)];
  switch (operator) {
    case '+':
      return finite(a.plus(b), '+');
    case '-':
      return finite(a.minus(b), '-');
    case '*':
      return finite(a.times(b), '*');
    case '/':
    case '%':
      if (b.isZero()) throw new ExpressionError('Division by zero.');
      return finite(operator === '/' ? a.dividedBy(b) : a.modulo(b), operator);
    default:
      throw new ExpressionError(`${operator} is not an operator here.`);
  }
}

function isSign(node: jsep.Expression): node is jsep.UnaryExpression {
  return node.type === 'UnaryExpression';
}

function constant(name: string): Decimal {
  if (name.toLowerCase() === 'pi' || name === 'π') return Exact.acos(-1);
  if (name === 'e') return Exact.exp(1);
  if (FUNCTIONS.has(name)) throw new ExpressionError(`${name} is a function: write ${name}(…).`);
  throw new ExpressionError(`${name} has no value. Write numbers in place of names.`);
}

function call({ callee, arguments: given }: jsep.CallExpression): Decimal {
  const name = callee.type === 'Identifier' ? (callee as jsep.Identifier).name : '';
  if (name === GROUP) {
    const [only, ...more] = given;
    if (only === undefined || more.length > 0) throw new ExpressionError('Parentheses must hold one expression.');
    return valueOf(only);
  }
  const known = FUNCTIONS.get(name);
  if (known === undefined) {
    throw new ExpressionError(
      name === ''
        ? 'Only a function can stand before parentheses. Write a sign between the parts, as in 2 * (3).'
        : `There is no function ${name}. There are: ${[...FUNCTIONS.keys()].join(', ')}.`,
    );
  }
  const { least, most, of } = known;
  if (given.length < least || given.length > most) {
    const wanted = most === Infinity ? `at least ${least}` : least === most ? String(least) : `${least} or ${most}`;
    throw new ExpressionError(
      `${name} takes ${wanted} ${wanted.endsWith('1') ? 'number' : 'numbers'}, not ${given.length}.`,
    );
  }
  return finite(of(given.map(valueOf)), name);
}

interface KnownFunction {
  readonly least: number;
  readonly most: number;
  readonly of: (values: readonly Decimal[]) => Decimal;
}

const one = (of: (value: Decimal) => Decimal): KnownFunction => ({
  least: 1,
  most: 1,
  of: ([value = new Exact(NaN)]) => of(value),
});
const many = (of: (values: readonly Decimal[]) => Decimal): KnownFunction => ({ least: 1, most: Infinity, of });
const angle = (of: (value: Decimal) => Decimal): KnownFunction =>
  one((value) => {
    if (value.abs().greaterThan(LARGEST_ANGLE)) throw new ExpressionError('The angle is too large.');
    return of(value);
  });

const FUNCTIONS: ReadonlyMap<string, KnownFunction> = new Map([
  ['abs', one((value) => value.abs())],
  ['sqrt', one((value) => value.sqrt())],
  ['cbrt', one((value) => value.cbrt())],
  ['exp', one((value) => value.exp())],
  ['ln', one((value) => value.ln())],
  ['log10', one((value) => value.log(10))],
  ['log2', one((value) => value.log(2))],
  ['log', { least: 2, most: 2, of: ([value = new Exact(NaN), base = new Exact(NaN)]) => value.log(base) }],
  ['sin', angle((value) => value.sin())],
  ['cos', angle((value) => value.cos())],
  ['tan', angle((value) => value.tan())],
  ['asin', one((value) => value.asin())],
  ['acos', one((value) => value.acos())],
  ['atan', one((value) => value.atan())],
  ['floor', one((value) => value.floor())],
  ['ceil', one((value) => value.ceil())],
  ['trunc', one((value) => value.trunc())],
  ['round', { least: 1, most: 2, of: ([value = new Exact(NaN), places = new Exact(0)]) => round(value, places) }],
  ['factorial', one(factorial)],
  ['min', many((values) => Exact.min(...values))],
  ['max', many((values) => Exact.max(...values))],
  ['sum', many((values) => Exact.sum(...values))],
  ['mean', many((values) => Exact.sum(...values).dividedBy(values.length))],
  ['median', many(median)],
]);

function round(value: Decimal, places: Decimal): Decimal {
  if (!places.isInteger() || places.lessThan(0) || places.greaterThan(KEPT)) {
    throw new ExpressionError(`round takes a whole number of places from 0 to ${KEPT}.`);
  }
  return value.toDecimalPlaces(places.toNumber());
}

function factorial(value: Decimal): Decimal {
  if (!value.isInteger() || value.lessThan(0) || value.greaterThan(1_000)) {
    throw new ExpressionError('factorial takes a whole number from 0 to 1000.');
  }
  let product = new Exact(1);
  for (let factor = 2; factor <= value.toNumber(); factor++) product = product.times(factor);
  return product;
}

function median(values: readonly Decimal[]): Decimal {
  const sorted = [...values].sort((left, right) => left.comparedTo(right));
  const middle = Math.floor(sorted.length / 2);
  const pair = sorted.length % 2 === 0 ? sorted.slice(middle - 1, middle + 1) : sorted.slice(middle, middle + 1);
  return Exact.sum(...pair).dividedBy(pair.length);
}

function finite(value: Decimal, what: string): Decimal {
  if (value.isNaN()) throw new ExpressionError(`The result of ${what} is not a real number.`);
  if (!value.isFinite()) throw new ExpressionError(`The result of ${what} is infinite or too large to write down.`);
  return value;
}
