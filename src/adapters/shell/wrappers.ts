import type { ShellStep, ShellWord } from '../../kernel/shell.ts';

/** What a program that runs others would run: steps of its own, or texts that are commands again. */
export interface Unwrapped {
  readonly steps?: readonly ShellStep[];
  readonly scripts?: readonly string[];
  readonly unclear?: string;
}

type Unwrap = (args: readonly ShellWord[]) => Unwrapped;

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'busybox'];

/** Options that take a word with them, by program. */
const WITH_WORD: Readonly<Record<string, RegExp>> = {
  sudo: /^-[ugpChrtTRD]$|^--(user|group|prompt|chdir|host|role|type|close-from)$/,
  doas: /^-[uC]$/,
  nice: /^-n$|^--adjustment$/,
  ionice: /^-[cnp]$|^--class(data)?$/,
  timeout: /^-[ks]$|^--(kill-after|signal)$/,
  stdbuf: /^-[ioe]$/,
  chrt: /^$/,
  taskset: /^$/,
  time: /^-[of]$/,
  xargs: /^-[aEeIiLlnPsd]$|^--(arg-file|delimiter|max-args|max-procs|max-lines|max-chars|replace|eof)$/,
  watch: /^-[nq]$|^--interval$/,
  env: /^-[uCS]$|^--(unset|chdir|split-string)$/,
  exec: /^-a$/,
  flock: /^-[wE]$|^--(timeout|wait|conflict-exit-code)$/,
  strace: /^-[oepsuaEIPSX]$/,
  setsid: /^$/,
};

/** Words that come before the program, besides options. */
const BEFORE: Readonly<Record<string, number>> = { timeout: 1, chrt: 1, taskset: 1, flock: 1, chroot: 1 };

const SIMPLE = [
  ...['sudo', 'doas', 'nohup', 'nice', 'ionice', 'timeout', 'stdbuf', 'chrt', 'taskset', 'time', 'setsid', 'command'],
  ...['builtin', 'exec', 'unbuffer', 'strace', 'flock', 'chroot', 'fakeroot', 'eatmydata', 'catchsegv', 'proxychains'],
];

/** Programs whose words are not what they run: nobody can say before what that is. */
const OPAQUE: Readonly<Record<string, string>> = {
  source: 'reads commands from a file',
  '.': 'reads commands from a file',
  alias: 'gives programs other names',
  unalias: 'gives programs other names',
  enable: 'changes what names stand for',
  hash: 'changes what names stand for',
  parallel: 'runs commands that it puts together',
  script: 'runs a shell of its own',
  coproc: 'runs a command beside',
  trap: 'runs commands later',
  mapfile: 'may run commands for lines',
  readarray: 'may run commands for lines',
  complete: 'runs commands later',
  bind: 'runs commands later',
  at: 'runs commands later',
  batch: 'runs commands later',
  crontab: 'runs commands later',
  export: 'sets variables of what follows',
  declare: 'sets variables of what follows',
  set: 'changes how the shell reads what follows',
  shopt: 'changes how the shell reads what follows',
};

const unwraps: ReadonlyMap<string, Unwrap> = new Map<string, Unwrap>([
  ...SIMPLE.map((name): [string, Unwrap] => [name, (args) => wrapped(name, args)]),
  ...SHELLS.map((name): [string, Unwrap] => [name, shell]),
  ['env', env],
  ['xargs', xargs],
  ['find', find],
  ['fd', (args) => byFlag(args, ['-x', '--exec', '-X', '--exec-batch'])],
  ['watch', watch],
  ['eval', evaluated],
  ['ssh', () => ({ unclear: 'ssh runs commands elsewhere' })],
  ...Object.entries(OPAQUE).map(([name, why]): [string, Unwrap] => [name, () => ({ unclear: `${name} ${why}` })]),
]);

/** What a step would run besides itself. Nothing for a program that runs no other. */
export function unwrap({ program, args }: ShellStep): Unwrapped | undefined {
  if (program === undefined) return undefined;
  return unwraps.get(program.split('/').at(-1) ?? program)?.(args);
}

function stepOf(words: readonly ShellWord[]): Unwrapped {
  const [program, ...args] = words;
  return words.length === 0 ? {} : { steps: [{ program, args }] };
}

/** The words from the program on: behind options, and behind what else comes before it. */
function wrapped(name: string, args: readonly ShellWord[]): Unwrapped {
  const rest = behindOptions(name, args);
  if (rest === undefined) return { unclear: `what ${name} runs is not certain` };
  if ((name === 'command' || name === 'builtin') && args.some((one) => one === '-v' || one === '-V')) return {};
  const words = rest.slice(BEFORE[name] ?? 0);
  return /^\w+=/.test(words[0] ?? '') ? { unclear: `${name} sets variables` } : stepOf(words);
}

function behindOptions(name: string, args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  for (let index = 0; index < args.length; index++) {
    const word = args[index];
    if (word === undefined) return undefined;
    if (word === '--') return args.slice(index + 1);
    if (!/^-./.test(word)) return args.slice(index);
    if (WITH_WORD[name]?.test(word) === true) index++;
  }
  return [];
}

function env(args: readonly ShellWord[]): Unwrapped {
  if (args.some((one) => one === undefined || /^-S|^--split-string/.test(one))) {
    return { unclear: 'what env runs is not certain' };
  }
  const rest = behindOptions('env', args);
  if (rest === undefined) return { unclear: 'what env runs is not certain' };
  const from = rest.findIndex((one) => !/^[^=]+=/.test(one ?? ''));
  const step = stepOf(from < 0 ? [] : rest.slice(from));
  return from === 0 || rest.length === 0 ? step : { ...step, unclear: 'env sets variables' };
}

/** What comes from its input is not known: its own words are all that is. */
function xargs(args: readonly ShellWord[]): Unwrapped {
  const rest = behindOptions('xargs', args);
  if (rest === undefined) return { unclear: 'what xargs runs is not certain' };
  const { steps = [] } = stepOf(rest.length === 0 ? ['echo'] : rest);
  return { steps: steps.map((one) => ({ ...one, args: [...one.args, undefined] })) };
}

function find(args: readonly ShellWord[]): Unwrapped {
  const steps: ShellStep[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index];
    if (word === undefined) continue;
    if (/^-(exec|execdir|ok|okdir)$/.test(word)) {
      const end = args.findIndex((one, at) => at > index && (one === ';' || one === '+'));
      const [program, ...rest] = args.slice(index + 1, end < 0 ? undefined : end);
      steps.push({ program, args: rest.map((one) => (one?.includes('{}') === true ? undefined : one)) });
      index = end < 0 ? args.length : end;
    } else if (word === '-delete') steps.push({ program: 'rm', args: [undefined] });
    else if (/^-f(print|ls)/.test(word)) steps.push({ program: '>', args: [args[index + 1]] });
  }
  return args.includes(undefined) ? { steps, unclear: 'what find does is not certain' } : { steps };
}

function byFlag(args: readonly ShellWord[], flags: readonly string[]): Unwrapped {
  if (args.includes(undefined)) return { unclear: 'what it runs is not certain' };
  const at = args.findIndex((one) => flags.includes(one ?? ''));
  if (at < 0) return {};
  const [program, ...rest] = args.slice(at + 1);
  return { steps: [{ program, args: [...rest, undefined] }] };
}

function watch(args: readonly ShellWord[]): Unwrapped {
  const rest = behindOptions('watch', args);
  if (rest === undefined || rest.includes(undefined)) return { unclear: 'what watch runs is not certain' };
  return { scripts: [rest.join(' ')] };
}

function evaluated(args: readonly ShellWord[]): Unwrapped {
  return args.includes(undefined) ? { unclear: 'what eval runs is not certain' } : { scripts: [args.join(' ')] };
}

/** `sh -c 'text'`; anything else that a shell is given is commands from somewhere else. */
function shell(args: readonly ShellWord[]): Unwrapped {
  for (let index = 0; index < args.length; index++) {
    const word = args[index];
    if (word === undefined) break;
    if (/^-[a-z]*c[a-z]*$/.test(word)) {
      const script = args[index + 1];
      if (script === undefined || /^-/.test(script)) break;
      return { scripts: [script] };
    }
    if (word === '--version' || word === '--help') return {};
    if (!/^-/.test(word)) break;
  }
  return { unclear: 'a shell reads commands from elsewhere' };
}
