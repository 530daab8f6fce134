import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
export interface ChatOptions {
  readonly agent?: string;
  readonly conversation?: string;
  readonly memory?: boolean;
  readonly data?: string;
  readonly debug?: boolean;
}
export async function chat(_context: Context, _bundle: string | undefined, _options: ChatOptions): Promise<Outcome> {
  return 'completed';
}
