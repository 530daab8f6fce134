import pc from 'picocolors';
import { isObject, oneLine, tryParseJson } from '../../base/json.ts';

type Paint = (text: string) => string;

const plain: Paint = (text) => text;

/** One JSON line of a log for people: time, level, message, then fields as `name=value`; a stack on lines of its own. */
export function readableLine(line: string, { color }: { readonly color: boolean }): string {
  const parsed = tryParseJson(line);
  if (!parsed.ok || !isObject(parsed.value)) return line;
  const { level, time, msg, ...fields } = parsed.value;
  const { dim, levels } = paints(color);
  const name = typeof level === 'string' ? level : 'info';
  const clock = typeof time === 'string' ? time.slice(11, 23) : '';
  const parts = [
    dim(clock),
    (levels[name] ?? plain)(name.toUpperCase().padEnd(5)),
    typeof msg === 'string' ? oneLine(msg) : '',
  ];
  const stacks: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (isObject(value) && typeof value['stack'] === 'string') {
      stacks.push(value['stack']);
      parts.push(`${dim(`${field}=`)}${shown(value['message'])}`);
    } else parts.push(`${dim(`${field}=`)}${shown(value)}`);
  }
  return `${parts.join(' ')}\n${stacks.map((stack) => dim(`${indented(stack)}\n`)).join('')}`;
}

function paints(color: boolean): { readonly dim: Paint; readonly levels: Readonly<Record<string, Paint>> } {
  if (!color) return { dim: plain, levels: {} };
  const { dim, red, yellow, cyan } = pc.createColors(true);
  return { dim, levels: { error: red, warn: yellow, debug: dim, info: cyan } };
}

function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w.,:/@+-]+$/.test(value)) return value;
  return JSON.stringify(value);
}

function indented(stack: string): string {
  return stack
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
