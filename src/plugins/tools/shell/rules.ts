import type { ParsedCommand, ShellStep, ShellWord } from '../../../kernel/shell.ts';

/** Rules over programs and their words, as an operator writes them: `git diff *`. */
export interface ShellRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  /** What nothing else says anything of. */
  readonly otherwise: 'allow' | 'ask' | 'deny';
}

export type Ruling =
  { readonly verdict: 'allow' } | { readonly verdict: 'ask' | 'deny'; readonly why: readonly string[] };

/**
 * What rules say of a whole command: every program in it has to be allowed, every file that it writes or reads too. One
 * that is denied, or might be, is no part of an allowed one; what is not certain asks, whatever else is allowed.
 */
export function ruling({ steps, redirects, unclear }: ParsedCommand, rules: ShellRules): Ruling {
  const denied: string[] = [];
  const asked: string[] = [...unclear];
  for (const step of [...steps, ...redirects]) {
    const shown = inWords(step);
    const denies = rules.deny.map((rule) => fit(rule, step, 'refuse'));
    if (denies.includes('yes')) denied.push(`${shown} is not allowed`);
    else if (denies.includes('maybe')) asked.push(`${shown} may be what is not allowed`);
    else if (rules.ask.some((rule) => fit(rule, step, 'refuse') !== 'no')) asked.push(`${shown} is asked about`);
    else if (!rules.allow.some((rule) => fit(rule, step, 'allow') === 'yes')) {
      if (rules.otherwise === 'ask') asked.push(`${shown} is not among what is allowed`);
      else if (rules.otherwise === 'deny') denied.push(`${shown} is not among what is allowed`);
    }
  }
  if (steps.length === 0 && redirects.length === 0 && unclear.length === 0) return { verdict: 'allow' };
  if (denied.length > 0) return { verdict: 'deny', why: [...new Set(denied)] };
  if (asked.length === 0) return { verdict: 'allow' };
  return { verdict: rules.otherwise === 'deny' ? 'deny' : 'ask', why: [...new Set(asked)] };
}

type Fit = 'yes' | 'no' | 'maybe';

/**
 * Whether a rule is about a step: its words one by one, `*` for any letters of a word, and at its end for any more words.
 *
 * Somebody who allows `git` means the one that the shell finds, and no other file of that name; who refuses it means it
 * wherever it lies.
 */
export function fit(rule: string, step: ShellStep, use: 'allow' | 'refuse'): Fit {
  const wanted = rule.trim().split(/\s+/);
  const isOpen = wanted.length > 1 && wanted.at(-1) === '*';
  const words = isOpen ? wanted.slice(0, -1) : wanted;
  const given: readonly ShellWord[] = [step.program, ...step.args];
  let isCertain = true;
  for (const [index, word] of words.entries()) {
    if (index >= given.length) return isCertain || !given.includes(undefined) ? 'no' : 'maybe';
    const at = given[index];
    // What is not known may be this word, or none, or several.
    if (at === undefined) isCertain = false;
    else if (isCertain && !(index === 0 ? fitsProgram(word, step, use) : fits(word, at))) return 'no';
  }
  const isMore = given.length > words.length;
  if (!isCertain) return 'maybe';
  if (!isMore || isOpen) return 'yes';
  return given.slice(words.length).every((one) => one === undefined) ? 'maybe' : 'no';
}

/** A path that a rule writes is that path, and `*` alone is any program. */
function fitsProgram(word: string, { program = '', name }: ShellStep, use: 'allow' | 'refuse'): boolean {
  if (word.includes('/') || word === '*' || !program.includes('/')) return fits(word, program);
  if (use === 'allow') return name !== undefined && fits(word, name);
  return fits(word, program) || fits(word, program.split('/').at(-1) ?? '');
}

function fits(pattern: string, word: string): boolean {
  const source = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${source.join('[^]*')}$`).test(word);
}

const LONGEST = 80;

function inWords({ program, args }: ShellStep): string {
  const text = [program, ...args].map((one) => one ?? '…').join(' ');
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
