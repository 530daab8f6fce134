import type { Fact } from '../../domain/event.ts';
import type { ConversationMeta, Log } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { next } from '../../loop/next.ts';
import { askedBy, WAITS, compareActions, compareCalls, compareEnds, compareVerdicts } from './compare.ts';
import { replayRun, type OtherRules, type Replayed } from './replay-run.ts';
import type { ReplayReport } from './report.ts';

export interface ReplayRequest {
  readonly rules?: (OtherRules & { readonly notes: readonly string[] }) | undefined;
  readonly upTo?: number | undefined;
  readonly logger: Logger;
}

/** Runs a recorded run again under the same or other rules, and says where it would have asked for something else. */
export async function replay(
  meta: ConversationMeta,
  facts: readonly Fact[],
  { rules, upTo, logger }: ReplayRequest,
): Promise<ReplayReport> {
  const replayed = await replayRun(meta, facts, { rules, upTo, logger });
  const [before, after] = [askedBy(meta, facts), askedBy(meta, replayed.facts)];
  const isPart = upTo !== undefined && upTo < before.calls.size;
  const calls = await compareCalls(before, after, upTo ?? Infinity);
  // A log that ends in the middle of a turn says nothing of what came next.
  const isUnderWay = next(before.end).type !== 'rest';
  const openTurn = before.end.turns.length + 1;
  const beyond = isUnderWay && turnOf(replayed) >= openTurn ? undefined : replayed.beyond;
  const isCut = isPart || beyond !== undefined;
  const isKnown = ({ before: was, after: is }: Fate): boolean => !(isCut && isOpen(is)) && !(isUnderWay && isOpen(was));
  const actions = compareActions(before, after).filter(isKnown);
  const verdicts = compareVerdicts(before, after).filter(isKnown);
  const ended = isPart ? [] : compareEnds(before, after).filter(({ turn }) => !isUnderWay || turn < openTurn);
  const same =
    beyond === undefined &&
    actions.length + verdicts.length === 0 &&
    calls.every((one) => one.same) &&
    ended.every((one) => one.same);
  return {
    run: meta.id,
    rules: rules === undefined ? 'recorded' : 'bundle',
    same,
    calls,
    actions,
    verdicts,
    ended,
    ...(beyond !== undefined && { beyond: { turn: turnOf(replayed), iteration: beyond.iteration } }),
    notes: [...(rules?.notes ?? []), ...notesOf(replayed)],
  };
}

interface Fate {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Not come to, or not done with, on the side of a log that ends before. */
function isOpen(fate: string | undefined): boolean {
  return fate === undefined || fate === WAITS;
}

function turnOf({ beyond }: Replayed): number {
  return Number(beyond?.turn.slice(1) ?? 0);
}

function notesOf({ unknown, allowed }: Replayed): readonly string[] {
  return [
    ...unknown.map(
      (id) => `${id} would run. What it would give is not known: the model was told what it was told then.`,
    ),
    ...allowed.map((request) => `${request} would ask a person who was not asked then. It was allowed, to go on.`),
  ];
}

const PAGE = 1_000;

/** Every fact of a run. */
export async function factsOf(log: Pick<Log, 'read'>, id: string): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await log.read(id, facts.length, PAGE);
    facts.push(...page);
    if (page.length < PAGE) return facts;
  }
}
