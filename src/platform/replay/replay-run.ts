import type { AnnounceBlockSource } from '../../assembly/section.ts';
import { systemClock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { openRequests, type Conversation, type HeldRequest } from '../../domain/conversation.ts';
import type { Draft, Fact } from '../../domain/event.ts';
import { createBus, type Bus } from '../../kernel/bus.ts';
import type { AgentSource } from '../../kernel/agent-source.ts';
import type { Clock } from '../../base/clock.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { drive } from '../../loop/drive.ts';
import type { LoopPorts } from '../../loop/work.ts';
import { Break } from './break.ts';
import { agentsOfRecord, withRecordedTools } from './recorded-agents.ts';
import { answerAgain, blocksOfRecord } from './recorded-answers.ts';
import { allowancesOfRecord, recordedGates } from './recorded-verdicts.ts';
import { recordingOf, type Recording } from './recording.ts';
import { FOREVER, REPLAY, Stage, type Beyond } from './stage.ts';

/** Where a run is replayed under other rules than its own: a bundle's agents, gates, planner and memory. */
export interface OtherRules {
  /** Registers what judges and answers. */
  readonly install: (bus: Bus, clock: Clock) => AnnounceBlockSource;
  /** Where its turns begin: with the choices and the accounts that the log knows of. */
  readonly agents: (recording: Recording) => AgentSource;
  /** Whether a plugin of this id states its own facts anew. */
  readonly has: (plugin: string) => boolean;
  /** Whether what this gate said then stands, because it cannot judge again. */
  readonly stands: (gate: string) => boolean;
}

export interface ReplayOptions {
  readonly rules?: OtherRules | undefined;
  /** Ends after this model call, counted over the run from 1, attempts too. */
  readonly upTo?: number | undefined;
  readonly logger: Logger;
}

/** The log that a replay wrote, beside the one it read. */
export interface Replayed {
  readonly facts: readonly Fact[];
  /** The model call of which the log has no answer: the replay ended there. */
  readonly beyond: Beyond | undefined;
  /** Actions that would run and never did, so that nobody knows what they would give. */
  readonly unknown: readonly string[];
  /** Requests that nobody had to answer then. They were allowed, so that what follows could be compared. */
  readonly allowed: readonly string[];
}

const NO_CHANCE: IdSource = { next: (prefix) => `${prefix}_${REPLAY}`, fraction: () => 0 };

/**
 * Runs a recorded run again, through the real loop: what models, tools, people and other runs said is taken from its log.
 * No model is called, no tool runs, and the log that it writes is in memory.
 *
 * Without other rules its agents, verdicts, plans and summaries are those of the log, too, and the two logs ask the same.
 */
export async function replayRun(
  meta: ConversationMeta,
  facts: readonly Fact[],
  { rules, upTo = FOREVER, logger }: ReplayOptions,
): Promise<Replayed> {
  const recording = recordingOf(meta, facts, (source) => rules?.has(source) === true);
  const stage = new Stage(meta, recording, upTo);
  const { clock } = stage;
  const bus = createBus({
    clock: { now: () => clock.now(), after: (ms, callback) => systemClock.after(ms, callback) },
    logger,
    record: (id, draft) => stage.memory.post(id, draft).fact,
  });
  bus.on('*', () => undefined); // somebody listens, so that every fact is stated when it happens
  const blocks = rules?.install(bus, clock) ?? blocksOfRecord(recording);
  recordedGates(bus, meta, recording, rules?.stands);
  if (rules === undefined) answerAgain(bus, recording);
  const { log, models, run } = stage;
  const agents: AgentSource & Pick<LoopPorts, 'isTakenOut'> =
    rules === undefined ? agentsOfRecord(recording, run) : withRecordedTools(rules.agents(recording), run);
  const allowances = allowancesOfRecord(recording);
  const ports = { log, bus, clock, ids: NO_CHANCE, models, agents, logger, blocks, allowances };
  await playOn(stage, { ...ports, isTakenOut: agents.isTakenOut }, recording);
  const { beyond, unknown, allowed } = stage;
  return { facts: stage.memory.read(meta.id, 0, FOREVER), beyond, unknown, allowed };
}

/** One slice after another, each begun by what came from outside next. */
async function playOn(stage: Stage, ports: LoopPorts, { end, stimuli, actions }: Recording): Promise<void> {
  const { meta, memory, stop } = stage;
  let known: Conversation | undefined;
  for (;;) {
    const lease = stage.take();
    try {
      known = await drive(ports, meta, lease, { signal: stop, cut: stop, known });
    } catch (error) {
      if (!(error instanceof Break)) throw error;
      if (error.seq === undefined) return;
      stage.enter(stimuli.between(error.seq));
      known = undefined;
      continue;
    } finally {
      memory.release(lease);
    }
    if (stop.aborted) return;
    const given = stimuli.atRest();
    stage.enter(given);
    if (given.length > 0) continue;
    // What is open in the log is open here. Anything else was not asked then.
    const open = known.turn === undefined ? [] : openRequests(known.turn);
    const asked = new Set(end.turn === undefined ? [] : openRequests(end.turn).map((one) => one.request));
    const [fresh] = open.filter((one) => !asked.has(one.request));
    if (fresh === undefined) return;
    // Who had allowed it before then is not known here.
    const wasAllowed = actions.get(fresh.action ?? '')?.begun?.allowedBy !== undefined;
    if (!wasAllowed) stage.allowed.push(fresh.request);
    memory.post(meta.id, agreement(fresh, known.turn?.id));
  }
}

function agreement({ request, kind }: HeldRequest, turnId: string | undefined): Draft {
  const answer = kind === 'input' ? ({ decision: 'reply', text: '' } as const) : ({ decision: 'allow' } as const);
  return { type: 'hitl.responded', payload: { request, ...answer, by: REPLAY }, turnId, key: request };
}
