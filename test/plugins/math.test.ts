import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { calculate } from '../../src/adapters/math/calculate.ts';
import { mathGroup } from '../../src/plugins/tools/math.ts';
import { runTool } from '../support/tool-context.ts';

function value(expression: string): string {
  const result = calculate(expression);
  return result.ok ? result.value : `(${result.problem})`;
}

test('arithmetic is exact in decimal and follows the order of operations', () => {
  const sums: readonly (readonly [expression: string, value: string])[] = [
    ['0.1 + 0.2', '0.3'],
    ['100 * (8000 / 10000)', '80'],
    ['1.19 * (240 - 15) / 12', '22.3125'],
    ['2 + 3 * 4', '14'],
    ['-2 ^ 2', '-4'],
    ['(-2) ^ 2', '4'],
    ['2 * -3 ^ 2', '-18'],
    ['--2 ^ 2', '4'],
    ['2 ^ 3 ^ 2', '512'],
    ['2 ** -1', '0.5'],
    ['8 - 3 - 2', '3'],
    ['7 % 3', '1'],
    ['-7 % 3', '-1'],
    ['3 × 4 ÷ 6 − 1', '1'],
    ['1e3 + .5', '1000.5'],
    ['123456789012345678901234567890.12345 + 1', '123456789012345678901234567891.12345'],
    ['2 ^ 200', '1606938044258990275541962092341162602522202993782792835301376'],
    ['sqrt (16) + abs(-3)', '7'],
    ['round(2.345, 2)', '2.35'],
    ['round(-2.5)', '-3'],
    ['log(8, 2) + log10(1000) + ln(e)', '7'],
    ['sum(1, 2, 3) + mean(1, 2) + median(3, 1, 2) + max(4, 5) + min(4, 5)', '18.5'],
    ['factorial(20)', '2432902008176640000'],
    ['((((((1))))))', '1'],
  ];
  for (const [expression, expected] of sums) assert.equal(value(expression), expected, expression);
});

test('what has more digits than are kept says that it is rounded', () => {
  assert.deepEqual(calculate('1 / 3'), { ok: true, value: `0.${'3'.repeat(34)}`, rounded: true });
  assert.deepEqual(calculate('1 / 8'), { ok: true, value: '0.125', rounded: false });
});

test('a mistake is told in a sentence that says what to do', () => {
  const mistakes: readonly (readonly [expression: string, says: RegExp])[] = [
    ['', /empty/],
    ['1 +', /Expected expression after \+/],
    ['2 ^', /after \^/],
    ['8,000 / 10', /no comma in a number/],
    ['2(3)', /Write a sign between the parts/],
    ['(2)(3)', /Write a sign between the parts/],
    ['1 / 0', /Division by zero/],
    ['5 % 0', /Division by zero/],
    ['sqrt(-1)', /sqrt is not a real number/],
    ['(-8) ^ (1/3)', /\^ is not a real number/],
    ['9 ^ 9 ^ 9 ^ 9', /too large/],
    ['exp(1e6)', /too large/],
    ['1e99999', /too large/],
    ['sin(1e50)', /angle is too large/],
    ['factorial(1e9)', /0 to 1000/],
    ['max()', /max takes at least 1 number, not 0/],
    ['round(1, 2, 3)', /round takes 1 or 2 numbers, not 3/],
    ['foo(1)', /no function foo.*sqrt/],
    ['sqrt', /write sqrt\(…\)/],
    ['x + 1', /x has no value/],
  ];
  for (const [expression, says] of mistakes) {
    const result = calculate(expression);
    assert.ok(!result.ok, expression);
    assert.match(result.problem, says, expression);
  }
});

test('an expression can reach nothing but numbers', () => {
  const attempts = [
    ...['this', 'constructor', '__proto__', 'toString()', 'hasOwnProperty(1)', 'abs.constructor("x")()', 'a.b', 'a[0]'],
    ...['"x" + 1', '[1, 2]', '1 ? 2 : 3', '1 && 2', '!1', '~1', '1 == 1', 'true', 'a = 1', '_(1, 2)', '`x`', '1; 2'],
  ];
  for (const expression of attempts) assert.ok(!calculate(expression).ok, expression);
});

test('a number without a digit is none', () => {
  assert.deepEqual(calculate('.E0'), { ok: false, problem: '.E0 is not a number.' });
});

test('any text gives a value or a sentence, soon', () => {
  const piece = fc.constantFrom(
    '1',
    '2.5',
    '9e9',
    '+',
    '-',
    '*',
    '/',
    '%',
    '^',
    '(',
    ')',
    ',',
    ' ',
    'sqrt',
    'e',
    '.',
    '"',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 60 }),
        fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
      ),
      (text) => {
        const result = calculate(text);
        return result.ok ? result.value !== '' : result.problem !== '';
      },
    ),
    { numRuns: 500 },
  );
});

test('sums of integers and cents agree with integer arithmetic', () => {
  const cents = fc.integer({ min: -1e9, max: 1e9 });
  const text = (amount: number) =>
    `(${amount < 0 ? '-' : ''}${Math.floor(Math.abs(amount) / 100)}.${String(Math.abs(amount) % 100).padStart(2, '0')})`;
  fc.assert(
    fc.property(cents, cents, (a, b) => {
      assert.equal(value(`(${text(a)} + ${text(b)}) * 100`), String(a + b));
    }),
  );
});

test('the tool gives the value as text, and a failure with the reason', async () => {
  const group = mathGroup(calculate);
  assert.deepEqual(await runTool(group, 'calculate', { expression: '0.1 + 0.2' }), { value: '0.3' });
  assert.deepEqual(await runTool(group, 'calculate', { expression: '2 ^ 0.5' }), {
    value: '1.414213562373095048801688724209698',
    rounded: true,
  });
  assert.deepEqual(await runTool(group, 'calculate', { expression: '1 / 0' }), {
    kind: 'failure',
    code: 'expression',
    message: 'Division by zero.',
  });
});
