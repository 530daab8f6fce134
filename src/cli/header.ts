import path from 'node:path';
import process from 'node:process';
import type { Platform } from '../platform/platform.ts';
import type { Colors } from './terminal.ts';
import { harmless, oneLine, wrap } from './text.ts';

export interface HeaderOptions {
  readonly colors: Colors;
  readonly columns: number;
  readonly agent: string;
  /** Where the log is; undefined for one that is not kept. */
  readonly file: string | undefined;
}

const LABEL_COLUMNS = 9;

/** What a person sees first: whom they talk to, which model answers and why, what to type, where it is kept. */
export function headerLines(platform: Platform, options: HeaderOptions): string[] {
  const { colors, columns, agent, file } = options;
  const row = (label: string, text: string): string[] => {
    const first = `  ${label}`.padEnd(LABEL_COLUMNS + 2);
    const [head = '', ...rest] = wrap(harmless(text), { columns, first, rest: ' '.repeat(LABEL_COLUMNS + 2) });
    return [colors.dim(head.slice(0, first.length)) + head.slice(first.length), ...rest];
  };
  const name = platform.bundle.agents.length > 1 ? `${platform.bundle.id} · ${agent}` : platform.bundle.id;
  return [
    '',
    `  ${colors.bold('treadle')}  ${oneLine(name, columns - 11)}`,
    '',
    ...row('model', modelInWords(platform, agent)),
    ...row('log', file === undefined ? 'in memory: gone when you leave' : shortPath(file)),
    ...row('keys', '/help lists commands; Ctrl-C stops a turn, and leaves when none runs'),
    ...row('try', exampleFor(platform, agent)),
    ...platform.notices.flatMap((one) => row('note', `${one.text} (${shortPath(one.place)})`)),
    '',
  ];
}

/** The model that answers, and why it is that one. */
export function modelInWords({ model, bundle }: Platform, agent: string): string {
  const declared = bundle.agent(agent).grant.models; // with what `auto` stands for in its place
  if (model === undefined || !declared.includes(model.ref)) {
    return `${declared.map((one) => `${one.provider} ${one.model}`).join(', then ')}, as the bundle says`;
  }
  const name = `${model.ref.provider} ${model.ref.model}`;
  switch (model.why) {
    case 'key':
      return `${name} (there is an API key for it)`;
    case 'local':
      return `${name} (its server answers on this computer)`;
    case 'scripted':
      return (
        'scripted: no API key and no local server was found, so a script speaks and everything works offline. For a real ' +
        'model set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or start Ollama, LM Studio, ' +
        'llama.cpp or vLLM'
      );
  }
}

/** Something to type that shows what the agent can do. */
function exampleFor({ bundle }: Platform, agent: string): string {
  const tools = new Set(bundle.agent(agent).grant.tools.map(({ definition }) => definition.name));
  if (tools.has('calculate_exposure')) return '8k in 10k';
  if (tools.has('add_note')) return 'note: call Bo';
  return 'What can you do?';
}

/** Relative to the working directory where that is shorter. */
function shortPath(file: string): string {
  if (file.includes('://')) return file; // a database
  const relative = path.relative(process.cwd(), file);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative) ? relative : file;
}
