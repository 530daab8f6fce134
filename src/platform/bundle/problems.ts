import { closest, distance } from 'fastest-levenshtein';
import { TreadleError, type ErrorCode, type ErrorDetail } from '../../base/errors.ts';

/** Problems that are told at once; more would scroll away. */
export const MOST_PROBLEMS = 20;

/** All that is wrong with a bundle, as one error: the code of the first problem, a line for each. */
export class BundleError extends TreadleError {
  readonly problems: readonly TreadleError[];

  /** `problems` is not empty. */
  constructor(problems: readonly TreadleError[]) {
    const [first] = problems;
    super(first?.code ?? 'bundle_invalid', first?.detail);
    this.problems = problems.slice(0, MOST_PROBLEMS);
    const untold = problems.length - this.problems.length;
    this.message = this.problems.map(({ message }) => message).join('\n');
    if (untold > 0) this.message += `\nand ${untold} more`;
  }
}

/** Collects problems, so that one run of a check tells all of them. */
export class Problems {
  readonly #found: TreadleError[] = [];

  add(code: ErrorCode, detail: ErrorDetail): void {
    this.#keep(new TreadleError(code, detail));
  }

  /** Takes what a check threw, when it is an operator's mistake; throws anything else again. */
  take(thrown: unknown): void {
    if (thrown instanceof BundleError) thrown.problems.forEach((one) => this.#keep(one));
    else if (TreadleError.is(thrown)) this.#keep(thrown);
    else throw thrown;
  }

  /** What another check has found. */
  takeAll(other: Problems): void {
    for (const problem of other.#found) this.#keep(problem);
  }

  /** Agents that share a level share its mistakes: each is told once. */
  #keep(problem: TreadleError): void {
    if (!this.#found.some(({ message }) => message === problem.message)) this.#found.push(problem);
  }

  get any(): boolean {
    return this.#found.length > 0;
  }

  /** Throws a BundleError when anything was found, in the order of the file where one is given. */
  throwIfAny(file?: string): void {
    if (this.#found.length === 0) return;
    throw new BundleError(file === undefined ? this.#found : inOrder(this.#found, file));
  }
}

/** By the places in a file; what stands elsewhere comes last. */
function inOrder(problems: readonly TreadleError[], file: string): readonly TreadleError[] {
  const at = ({ detail: { place = '' } }: TreadleError): readonly [number, number] => {
    const [, line, column] = (place.startsWith(file) && /^:(\d+):(\d+)/.exec(place.slice(file.length))) || [];
    return line === undefined ? [Infinity, 0] : [Number(line), Number(column)];
  };
  return problems.toSorted((left, right) => {
    const [one, other] = [at(left), at(right)];
    return one[0] === other[0] ? one[1] - other[1] : one[0] - other[0];
  });
}

/** `did you mean …` when one of the names is close to what was written, else nothing. */
export function didYouMean(written: string, names: Iterable<string>): string | undefined {
  const known = [...names];
  if (known.length === 0 || written.length > 200) return undefined;
  const best = closest(written.toLowerCase(), known);
  // A third of the letters wrong is a typing mistake; more is another word.
  return distance(written.toLowerCase(), best.toLowerCase()) <= Math.ceil(best.length / 3)
    ? `did you mean ${best}`
    : undefined;
}

/** Names as they stand in `wanted`: all when they are few, else the beginning. */
export function oneOf(names: Iterable<string>, what = 'one of'): string {
  const known = [...names];
  if (known.length === 0) return 'none: there is nothing to name';
  const shown = known.slice(0, 12).join(', ');
  return `${what} ${shown}${known.length > 12 ? `, … (${known.length} in all)` : ''}`;
}

/** What was mapped, left out or chosen while loading: nothing is wrong, and somebody may want to know. */
export interface Notice {
  readonly place: string;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** Collects notices, each once. */
export class Notices {
  readonly #said = new Map<string, Notice>();

  add(place: string, text: string): void {
    this.#said.set(`${place}\n${text}`, { place, text });
  }

  get all(): readonly Notice[] {
    return [...this.#said.values()];
  }
}
