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
    const denies = rules.deny.map((rule) => fit(rule, step));
    if (denies.includes('yes')) denied.push(`${shown} is not allowed`);
    else if (denies.includes('maybe')) asked.push(`${shown} may be what is not allowed`);
    else if (rules.ask.some((rule) => fit(rule, step) !== 'no')) asked.push(`${shown} is asked about`);
    else if (!rules.allow.some((rule) => fit(rule, step) === 'yes')) {
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

/** Whether a rule is about a step: its words one by one, `*` for any letters of a word, and at its end for any more words. */
export function fit(rule: string, { program, args }: ShellStep): Fit {
  const wanted = rule.trim().split(/\s+/);
  const isOpen = wanted.length > 1 && wanted.at(-1) === '*';
  const words = isOpen ? wanted.slice(0, -1) : wanted;
  const given: readonly ShellWord[] = [named(program, words[0] ?? ''), ...args];
  let isCertain = true;
  for (const [index, word] of words.entries()) {
    if (index >= given.length) return isCertain || !given.includes(undefined) ? 'no' : 'maybe';
    const at = given[index];
    // What is not known may be this word, or none, or several.
    if (at === undefined) isCertain = false;
    else if (isCertain ? !fits(word, at) : false) return 'no';
  }
  const isMore = given.length > words.length;
  if (!isCertain) return 'maybe';
  if (!isMore || isOpen) return 'yes';
  return given.slice(words.length).every((one) => one === undefined) ? 'maybe' : 'no';
}

/** `/usr/bin/git` is what `git` is a rule about; a path that a rule writes is that path. */
function named(program: ShellWord, rule: string): ShellWord {
  if (program === undefined || rule.includes('/')) return program;
  return /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(program) ? program.split('/').at(-1) : program;
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
