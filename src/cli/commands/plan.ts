import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { isoTime, systemClock } from '../../base/clock.ts';
import type { BundleChange } from '../../assembly/bundle-changes.ts';
import type { Log } from '../../kernel/log.ts';
import { dataFolder, LOG_FILE } from '../../platform/hosting/data-folder.ts';
import type { AgentPlan, BundlePlan } from '../../platform/bundle/plan.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { loadForReading } from '../load-bundle.ts';
import { openLog } from '../open.ts';
import type { Colors } from '../terminal.ts';
import { counted, harmless, oneLine, wrap } from '../text.ts';

export interface PlanOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** Says what an edit of a bundle allows, forbids and costs. Nothing is run, and nothing is changed. */
export async function plan(
  { terminal, environment }: Context,
  files: readonly [string, string],
  options: PlanOptions,
): Promise<Outcome> {
  const [{ planOf }, { allPlugins }, { pricingOf }] = await Promise.all([
    import('../../platform/bundle/plan.ts'),
    import('../../platform/bundle/all-plugins.ts'),
    import('../../platform/models/pricing.ts'),
  ]);
  const [before, after] = await Promise.all([
    loadForReading(files[0], environment),
    loadForReading(files[1], environment),
  ]);
  const folder = dataFolder({ named: options.data, environment, directory: process.cwd() });
  // A log that is not there has nobody in it, and looking must not make one.
  const { databaseUrl } = await import('../../platform/hosting/storage.ts');
  const isThere =
    databaseUrl({ data: options.data, environment }) !== undefined || existsSync(path.join(folder, LOG_FILE));
  const log: Log | undefined = isThere ? (await openLog({ data: options.data, environment })).log : undefined;
  try {
    await Promise.all([before, after].flatMap((bundle) => bundle.agents.map(async (id) => bundle.agentNow(id))));
    const price = pricingOf(after.bundle.prices, systemClock);
    const found = await planOf({ before, after, known: allPlugins, log, clock: systemClock, price });
    if (options.json === true) {
      const bundles = {
        before: { id: before.id, revision: before.revision },
        after: { id: after.id, revision: after.revision },
      };
      terminal.out.write(`${JSON.stringify({ ...bundles, ...found })}\n`);
      return 'completed';
    }
    const look = { colors: terminal.colors, columns: terminal.columns() };
    const title = oneLine(`${files[0]} → ${files[1]}`, look.columns);
    const lines = [look.colors.bold(title), ...planLines(found, look)];
    terminal.out.write(lines.map((line) => `${line}\n`).join(''));
    return 'completed';
  } finally {
    await Promise.all([before.close(), after.close(), log?.close()]);
  }
}

interface Look {
  readonly colors: Colors;
  readonly columns: number;
}

function planLines({ changes, agents }: BundlePlan, look: Look): readonly string[] {
  const shown = agents.filter((one) => one.changes.length > 0);
  if (changes.length === 0 && shown.length === 0) return ['', 'Nothing is different.'];
  return [
    ...(changes.length === 0 ? [] : ['', ...changes.flatMap((change) => changeLines(change, look))]),
    ...shown.flatMap((agent) => ['', look.colors.bold(agent.agent), ...agentLines(agent, look)]),
  ];
}

function agentLines({ changes, active, cold, consequence }: AgentPlan, look: Look): readonly string[] {
  const lines = changes.flatMap((change) => changeLines(change, look));
  if (!changes.some(({ kind }) => kind === 'rewrites'))
    return [...lines, ...said('cache', 'no prompt becomes cold', look)];
  if (cold === 0) {
    const who = active === 0 ? 'nobody is talking' : `none of ${counted(active, 'active conversation')} is warm`;
    return [...lines, ...said('cache', `the next prompts are written anew; ${who}, so nothing is lost`, look)];
  }
  const money =
    consequence.money?.rebuild === undefined
      ? 'a price that nobody knows'
      : `about $${rounded(consequence.money.rebuild)}`;
  const until = consequence.assumes.warmUntil;
  const free = until === undefined ? '' : `; free after ${isoTime(until).slice(11, 16)} UTC`;
  const what = `${counted(cold, 'warm conversation')} of ${active} active: one cold turn each, ${counted(consequence.tokens, 'cached token')} in all, ${money}${free}`;
  return [...lines, ...said('cache', what, look)];
}

const WORDS: Readonly<Record<BundleChange['kind'], string>> = {
  widens: 'widens',
  narrows: 'narrows',
  rewrites: 'rewrites',
  free: 'free',
};

function changeLines({ kind, what }: BundleChange, look: Look): readonly string[] {
  const colour = kind === 'widens' ? look.colors.yellow : kind === 'narrows' ? look.colors.green : look.colors.dim;
  return said(WORDS[kind], what, look, colour);
}

function said(
  word: string,
  text: string,
  { colors, columns }: Look,
  colour: (text: string) => string = colors.dim,
): readonly string[] {
  const first = `  ${word.padEnd(10)}`;
  const [head = '', ...rest] = wrap(harmless(text), { columns, first, rest: ' '.repeat(first.length) });
  return [colour(head.slice(0, first.length)) + head.slice(first.length), ...rest];
}

/** Two digits that say something. */
function rounded(amount: string): string {
  const value = Number(amount);
  return value >= 1 ? value.toFixed(2) : value.toPrecision(2);
}
