// The smallest door into the loop: a function that decides, and one tool. No model, no key, no bundle.
import { LoopFault, runLoop } from '../src/index.ts';

const result = await runLoop(
  (messages) => {
    const last = messages.at(-1);
    if (last?.role !== 'tool') {
      const values = { position_value: 8_000, portfolio_value: 10_000 };
      return { type: 'tool', tool: 'calculate_exposure', arguments: values };
    }
    return { type: 'finish', answer: `Fixture exposure: ${percentOf(last.content).toFixed(2)}%` };
  },
  {
    task: 'What is my exposure?',
    tools: {
      calculate_exposure: (given) => {
        const { position_value: position, portfolio_value: portfolio } = given as Record<string, unknown>;
        if (typeof position !== 'number' || typeof portfolio !== 'number') throw new LoopFault('Two numbers, please');
        if (position < 0 || portfolio <= 0) throw new LoopFault('Position must be nonnegative and portfolio positive');
        return { exposure_pct: 100 * (position / portfolio) };
      },
    },
  },
);

console.log(JSON.stringify(result));

function percentOf(observation: unknown): number {
  return (observation as { exposure_pct: number }).exposure_pct; // what the tool above returns
}
