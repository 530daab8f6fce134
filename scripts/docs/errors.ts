// docs/errors.md, made of the codes and of what a command ends with when one is thrown.
import { ERROR_CODES, TreadleError, type ErrorCode } from '../../src/base/errors.ts';
import { errorOutcome, EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { MODEL_CODES, OBSERVATION_CODES, TURN_CODES } from './log-codes.ts';
import { code, generated, table } from './table.ts';

function rowsOf(codes: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(codes).map(([one, about]) => [code(one), about]);
}

/** Thrown when a model is opened, which a run does only inside its turn: that ends as one that failed. */
const INSIDE: ReadonlySet<ErrorCode> = new Set([
  'json_invalid',
  'bundle_invalid',
  'model_unknown_provider',
  'model_no_key',
  'script_invalid',
]);

function exitOf(one: ErrorCode): string {
  const { code: exit } = EXIT_CODES[errorOutcome(new TreadleError(one))];
  return INSIDE.has(one) ? `${exit}, or ${EXIT_CODES.error.code} when it happens inside a run` : String(exit);
}

export function renderErrorsDoc(): string {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[]; // its own keys
  const rows = codes.map((one) => [code(one), ERROR_CODES[one], exitOf(one)]);
  return `# Errors

${generated('src/base/errors.ts')}
A \`TreadleError\` is a mistake of a caller or an operator. It has a stable \`code\`, and a \`detail\` with the place, what was
found, what was wanted and what to do about it; \`message\` is all of that in one line. A code never changes its meaning and
is never used for another. \`TreadleError.is(value)\` tells one, also of another copy of the package.

What may be expected is never thrown: a tool that fails, a gate that refuses and a model that cannot be reached are facts
in the log, and a turn that could not go on ends with \`agent.turn.end\`, whose \`error\` says why.

The last column is what a command of \`treadle\` ends with; see [cli.md](cli.md).

${table(['Code', 'Means', 'Exit'], rows)}
## Codes of observations

In \`tool.result\`, as the model is told, where the outcome is not \`ok\`. A tool or a gate may give a code of its own.

${table(['Code', 'Means'], rowsOf(OBSERVATION_CODES))}
## Codes of turns

In \`agent.turn.end\`, where the status is not \`completed\`. A turn that ends after too many faults has the code of the last one.

${table(['Code', 'Means'], rowsOf(TURN_CODES))}
A model that did not answer is ${MODEL_CODES.map(code).join(', ')}; one that stopped in mid-answer is \`stop_\` and the kind
of the stop, such as \`stop_length\`.
`;
}
