import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';

/** Prints the JSON Schema of a bundle, or of a suite of cases, for editors. */
export async function schema({ terminal }: Context, ofSuite: boolean): Promise<Outcome> {
  if (ofSuite) {
    const { suiteJsonSchema } = await import('../../platform/eval/suite.ts');
    terminal.out.write(`${JSON.stringify(suiteJsonSchema(), null, 2)}\n`);
    return 'completed';
  }
  const { bundleJsonSchema } = await import('../../platform/bundle/bundle-schema.ts');
  terminal.out.write(`${JSON.stringify(bundleJsonSchema(), null, 2)}\n`);
  return 'completed';
}
