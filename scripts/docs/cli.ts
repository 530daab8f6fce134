// docs/cli.md, made of the program: the help of each command is what it prints.
import type { Command } from 'commander';
import type { Context } from '../../src/cli/context.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { code, generated, table } from './table.ts';

const COLUMNS = 80;

/** The program as it would be built for a terminal of so many columns. No command of it is run. */
export function documentedProgram(): Command {
  const terminal: Pick<Context['terminal'], 'columns'> = { columns: () => COLUMNS };
  return createProgram({ terminal: terminal as Context['terminal'], environment: {} }, '0', () => undefined); // help asks for no more
}

export function renderCliDoc(): string {
  const program = documentedProgram();
  const exits = Object.values(EXIT_CODES).map(({ code: number, about }) => [String(number), about]);
  return [
    INTRODUCTION,
    ...program.commands.map((one) => sectionOf(one, '##', 'treadle')),
    `## Exit codes\n\nFor scripts. A number never changes its meaning.\n\n${table(['Code', 'Means'], exits)}`,
    `## Environment\n\n${environmentOf(helpOf(program))}`,
  ].join('\n');
}

function sectionOf(command: Command, mark: string, before: string): string {
  const name = `${before} ${command.name()}`;
  const below = command.commands.map((one) => `\n${sectionOf(one, `${mark}#`, name)}`);
  return `${mark} ${name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n${below.join('')}`;
}

export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (said) => (text += said) });
  command.outputHelp();
  return text.trimEnd();
}

/** The variables that the help of the program names. */
function environmentOf(help: string): string {
  const [, block = ''] = /^Environment\n(.*)$/ms.exec(help) ?? [];
  return `\`\`\`text\n${block.trimEnd()}\n\`\`\`\n`;
}

const INTRODUCTION = `# Command line

${generated('src/cli/program.ts and src/cli/exit-codes.ts')}
In a clone, ${code('npm start')} serves the agents that ship and opens the page, ${code('npm run chat')} is ${code('treadle chat')}, and any
other command is ${code('npx node src/cli/main.ts <command>')}.

What a command prints for a program goes to stdout; progress, questions and errors go to stderr. A run is named by its id,
by the beginning of its id, or by ${code('last')}.
`;
