import { createInterface } from 'node:readline';
import type { Person } from './person.ts';
import { createPlainScreen } from './screen.ts';
import type { Terminal } from './terminal.ts';

/** A person at a terminal whose stdout is for something else: asked on stderr, a line at a time. */
export function linePerson({ input, err, errColors, columns }: Terminal): Person {
  return {
    screen: createPlainScreen(err),
    colors: errColors,
    columns,
    ask: (prompt, draft) =>
      new Promise((resolve) => {
        const reader = createInterface({ input, output: err, terminal: true, historySize: 0 });
        const finish = (answer: string | undefined): void => {
          reader.off('close', leave);
          reader.close();
          resolve(answer);
        };
        const leave = (): void => finish(undefined);
        reader.on('close', leave);
        reader.on('SIGINT', leave);
        reader.question(prompt, finish);
        if (draft !== undefined) reader.write(draft);
      }),
  };
}
