// Authored decisions for the exposure agent, so that it can be tried without a model, a key or a network.
import type { Reply, ScriptView } from '../src/adapters/models/script.ts';

const HOW_TO_ASK = 'Name a position and the portfolio it is in, for example “$8,000 of $10,000” or “8k in 10k”.';

interface Holding {
  readonly position: number;
  readonly portfolio: number;
}

/** Reads the numbers, has them divided by the tool, and says what came of it. */
export function script(view: ScriptView): Reply {
  const [result] = view.results;
  if (result !== undefined) return { text: answer(result.observation, view.actions[0]?.arguments) };
  const holding = readHolding(view.userTexts(20));
  if (holding === undefined) return { text: `I need two amounts to calculate an exposure. ${HOW_TO_ASK}` };
  const { position, portfolio } = holding;
  return {
    thinking: `A position of ${money(position)} in a portfolio of ${money(portfolio)}: the division is the tool’s job.`,
    actions: [{ name: 'calculate_exposure', arguments: { position_value: position, portfolio_value: portfolio } }],
  };
}

function answer(
  { outcome, value, error }: ScriptView['results'][number]['observation'],
  asked: Readonly<Record<string, unknown>> | undefined,
): string {
  const exposure =
    typeof value === 'object' && value !== null && 'exposure_pct' in value ? value.exposure_pct : undefined;
  if (outcome !== 'ok' || typeof exposure !== 'number') {
    const reason = error?.message.replace(/\.$/, '') ?? 'the tool gave no number';
    return `I could not calculate that exposure: ${reason}. ${HOW_TO_ASK}`;
  }
  const { position_value: position, portfolio_value: portfolio } = asked ?? {};
  const numbers =
    typeof position === 'number' && typeof portfolio === 'number' ? ` (${money(position)} of ${money(portfolio)})` : '';
  return `Fixture exposure: ${exposure.toFixed(2)}%\n\nThis is position exposure arithmetic${numbers}, not a recommendation.`;
}

/** The holding the person speaks of. What the last message leaves out is taken from the messages before it. */
function readHolding([last = '', ...earlier]: readonly string[]): Holding | undefined {
  const amounts = readAmounts(last);
  const [first, second] = amounts;
  if (first === undefined) return undefined;
  if (second !== undefined) {
    const swapped = first.isPortfolio && !second.isPortfolio;
    return swapped
      ? { position: second.value, portfolio: first.value }
      : { position: first.value, portfolio: second.value };
  }
  const before = readHolding(earlier.filter((text) => readAmounts(text).length > 0));
  if (before === undefined) return undefined;
  return first.isPortfolio ? { ...before, portfolio: first.value } : { ...before, position: first.value };
}

const SCALES: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  million: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
};
const AMOUNT =
  /(?<![\w.])(?<sign>[-−]?)\s?[$€£]?\s?(?<digits>\d{1,3}(?:[,'’_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s?(?<scale>k|m|bn?|thousand|million|billion)?(?![\w%]|\.\d)/giu;

/** Every amount in the text, and whether the words around it say that it is the portfolio: `a 10k portfolio`, `portfolio of 10k`. */
function readAmounts(text: string): { readonly value: number; readonly isPortfolio: boolean }[] {
  return [...text.matchAll(AMOUNT)].map(({ 0: whole, index, groups = {} }) => {
    const size =
      Number(groups['digits']?.replaceAll(/[,'’_]/g, '')) * (SCALES[groups['scale']?.toLowerCase() ?? ''] ?? 1);
    const before = text.slice(0, index);
    const after = text.slice(index + whole.length);
    return {
      value: groups['sign'] ? -size : size,
      isPortfolio:
        /portfolio(?: (?:value|worth|size|is|of|at|with|:|=))*\s*$/i.test(before) || /^\s*portfolio/i.test(after),
    };
  });
}

function money(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 20 });
}
