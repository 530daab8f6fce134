import type { Screen } from './screen.ts';
import type { Colors } from './terminal.ts';

/** A person at the keyboard, who is asked. */
export interface Person {
  readonly screen: Pick<Screen, 'lines'>;
  readonly colors: Colors;
  readonly columns: () => number;
  /** What they type after the prompt; `draft` is there to be changed. Undefined when they leave. */
  ask(prompt: string, draft?: string): Promise<string | undefined>;
}
