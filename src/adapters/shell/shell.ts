import type { Shell, ShellStep } from '../../kernel/shell.ts';
import { shellParser } from './grammar.ts';
import { nameOnPath } from './on-path.ts';
import { parseCommand } from './parse.ts';
import { runCommand } from './run.ts';
import { searchPath, sandboxState } from './sandbox.ts';

/** The shell of this system: commands read by a parser for bash, run by bash, in bubblewrap where that works. */
export const systemShell: Shell = {
  parse: async (command, path = searchPath()) => {
    const parsed = parseCommand(await shellParser(), command);
    return { ...parsed, steps: parsed.steps.map((step) => withName(step, path)) };
  },
  sandbox: sandboxState,
  start: (request) =>
    Promise.resolve(runCommand({ ...request, environment: { PATH: searchPath(), ...request.environment } })),
};

function withName(step: ShellStep, path: string): ShellStep {
  const name = step.program === undefined ? undefined : nameOnPath(step.program, path);
  return name === undefined ? step : { ...step, name };
}
