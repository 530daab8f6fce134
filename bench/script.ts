// What every model in the benchmark plays, in no package's dialect. It answers from what it is shown, so a package that
// loses a result or a message gives a wrong answer and is caught.

/** One user message: `calls` exposures in all, `parallel` at a time, then their sum, told in `chunks` pieces. */
export interface Exercise {
  readonly id: number;
  readonly calls: number;
  readonly parallel?: number;
  readonly chunks?: number;
  /** The answer also says how many user messages the model was shown. */
  readonly count?: boolean;
}

export interface Call {
  readonly id: string;
  readonly arguments: { readonly price: number; readonly quantity: number };
}

export type Reply = { readonly calls: readonly Call[] } | { readonly text: readonly string[] };

export const instructions = 'You work out exposures. Use the tool for each one, then say the sum.';
export const toolDescription = 'Exposure of one position: price times quantity.';
export const usage = { input: 120, output: 24 };

/** The tool that is used, and as many of the same shape that are not. */
export function toolNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? 'calculate_exposure' : `spare_${index}`));
}

export function exposure({ price, quantity }: { price: number; quantity: number }): { exposure: number } {
  return { exposure: price * quantity };
}

export function directive({ id, calls, parallel = 1, chunks = 1, count = false }: Exercise): string {
  return `exposure ${id} ${calls} ${parallel} ${chunks} ${count ? 'count' : 'plain'}`;
}

export function isDirective(text: string): boolean {
  return text.startsWith('exposure ');
}

/** `results` are the exposures read back from the tool results of this turn; `users` counts the user messages. */
export function reply(text: string, results: readonly number[], users: () => number): Reply {
  const [, id = '', calls, parallel, chunks, mode] = text.split(' ');
  const left = Number(calls) - results.length;
  if (left > 0) {
    const now = Math.min(left, Number(parallel));
    return { calls: Array.from({ length: now }, (_, index) => call(id, results.length + index)) };
  }
  let sum = 0;
  for (const result of results) sum += result;
  return { text: answer(sum, Number(chunks), mode === 'count' ? users() : undefined) };
}

export function expected(exercise: Exercise, users?: number): string {
  let sum = 0;
  for (let index = 0; index < exercise.calls; index++) sum += exposure(call('', index).arguments).exposure;
  return answer(sum, exercise.chunks ?? 1, exercise.count ? users : undefined).join('');
}

function call(turn: string, index: number): Call {
  return { id: `call_${turn}_${index}`, arguments: { price: 100 + index, quantity: 2 } };
}

function answer(sum: number, chunks: number, users: number | undefined): string[] {
  const seen = users === undefined ? '' : ` I was shown ${users} messages.`;
  return [`The exposure is ${sum}.${seen}`, ...filler(chunks - 1)];
}

const fillers = new Map<number, readonly string[]>();

function filler(count: number): readonly string[] {
  let words = fillers.get(count);
  if (words === undefined) fillers.set(count, (words = Array.from({ length: count }, (_, at) => ` word${at % 10}`)));
  return words;
}
