import { z } from 'zod';
import { defineTool, toolFailure, type BuiltinGroup } from '../../kernel/tool.ts';

/** The value of an expression as decimal text, or what is wrong with it in a sentence. Never throws. */
export type Calculate = (
  expression: string,
) =>
  | { readonly ok: true; readonly value: string; readonly rounded: boolean }
  | { readonly ok: false; readonly problem: string };

const MAX_EXPRESSION = 500;

const input = z.strictObject({
  expression: z.string().min(1).max(MAX_EXPRESSION).describe('Such as 1.19 * (240 - 15) / 12'),
});

/** A calculator that works in decimal, so that 0.1 + 0.2 is 0.3. */
export function mathGroup(calculate: Calculate): BuiltinGroup {
  const tool = defineTool({
    name: 'calculate',
    description:
      'Work out one arithmetic expression exactly, in decimal. Operators: + - * / % (remainder) ^ and parentheses. ' +
      'Functions: abs sqrt cbrt exp ln log10 log2 log(x, base) sin cos tan asin acos atan (radians) floor ceil trunc ' +
      'round(x, places) factorial min max sum mean median. Constants: pi, e. Write 8000 and not 8,000; write 15 ' +
      'percent as 0.15. The value is text, so that no digit is lost; rounded says that there were more digits.',
    input,
    effect: 'read',
    run({ expression }) {
      const result = calculate(expression);
      if (!result.ok) return toolFailure('expression', result.problem);
      return result.rounded ? { value: result.value, rounded: true } : { value: result.value };
    },
  });
  return { name: 'math', locked: false, tools: [tool] };
}
