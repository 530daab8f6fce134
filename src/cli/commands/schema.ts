import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';

/** Prints the JSON Schema of a bundle, for editors. */
export async function schema({ terminal }: Context): Promise<Outcome> {
  const { bundleJsonSchema } = await import('../../platform/bundle-schema.ts');
  terminal.out.write(`${JSON.stringify(bundleJsonSchema(), null, 2)}\n`);
  return 'completed';
}
