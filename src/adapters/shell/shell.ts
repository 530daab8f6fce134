import type { Shell } from '../../kernel/shell.ts';
import { shellParser } from './grammar.ts';
import { parseCommand } from './parse.ts';
import { runCommand } from './run.ts';
import { searchPath, sandboxState } from './sandbox.ts';

/** The shell of this system: commands read by a parser for bash, run by bash, in bubblewrap where that works. */
export const systemShell: Shell = {
  parse: async (command) => parseCommand(await shellParser(), command),
  sandbox: sandboxState,
  start: (request) =>
    Promise.resolve(runCommand({ ...request, environment: { PATH: searchPath(), ...request.environment } })),
};
