import { isoTime, type Instant } from '../../base/clock.ts';
import { allowanceId, type Allowance, type AllowanceOffer } from '../../domain/allowance.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import type { FactPayload } from '../../domain/event.ts';
import type { AllowanceStore, StoredAllowance } from '../../kernel/choices.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import { post, runOf, type RunsPorts } from '../runs/ports.ts';
import { permit, type Caller } from '../runs/caller.ts';
import type { IsoTime } from '../runs/snapshot.ts';

/** A yes for more than one action, as people read it. */
export interface AllowanceView {
  readonly id: string;
  readonly scope: Allowance['scope'];
  readonly tool: string;
  /** What it is a yes to, in words. */
  readonly about: string;
  /** The gates that ask no more. */
  readonly gates: readonly string[];
  readonly bundle: string;
  readonly agent: string;
  /** Where it was said. */
  readonly run: string;
  readonly by: string;
  readonly at: IsoTime;
}

/** What people have allowed beyond one action: seen, and taken back. Nothing but an answer to a request makes one. */
export interface Allowances {
  /** Scope `read`. The caller's own for always; with a run, also those of that run. Throws `run_unknown`. */
  list(caller: Caller, query?: { readonly run?: string | undefined }): Promise<readonly AllowanceView[]>;
  /** Scope `run`. It counts no more once this has resolved. False when there is none that stands. Throws `run_unknown`. */
  revoke(caller: Caller, id: string, query?: { readonly run?: string | undefined }): Promise<boolean>;
}

export function createAllowances(ports: RunsPorts): Allowances {
  const { allowances: store, folds, clock } = ports;
  return {
    async list(caller, { run } = {}) {
      permit(caller, 'read');
      const always = (await store.allowancesOf(caller)).map(({ conversation, ...one }) => view(one, conversation));
      if (run === undefined) return always;
      const row = await runOf(ports, caller, 'read', run);
      const { conversation } = await folds.read(row);
      const { bundle = row.bundle, id: agent = row.agent } = conversation.agent ?? {};
      return [...conversation.allowances.map((one) => view({ ...one, bundle, agent }, run)).reverse(), ...always];
    },
    async revoke(caller, id, { run } = {}) {
      permit(caller, 'run');
      if (await store.revokeAllowance(caller, id, clock.now())) return true;
      if (run === undefined) return false;
      const row = await runOf(ports, caller, 'run', run);
      const { conversation } = await folds.read(row);
      if (!conversation.allowances.some((one) => one.id === id)) return false;
      const payload = { allowance: id, by: caller.userId };
      await post(ports, row, { type: 'allowance.revoked', payload, key: id });
      return true;
    },
  };
}

function view(
  { id, scope, tool, about, covers, bundle, agent, by, at }: Allowance & Pick<StoredAllowance, 'bundle' | 'agent'>,
  run: string,
): AllowanceView {
  return { id, scope, tool, about, gates: covers.map(({ gate }) => gate), bundle, agent, run, by, at: isoTime(at) };
}

/** A request with what was said to it. */
export interface AnsweredRequest {
  readonly request: string;
  readonly allowance?: AllowanceOffer | undefined;
  readonly answer?: FactPayload<'hitl.responded'> | undefined;
  readonly answeredAt?: Instant | undefined;
}

/**
 * Keeps a yes for always with its user. It is on record in the log by then; kept twice, it is kept once, and one that was
 * taken back since is not kept anew.
 */
export async function keepAllowance(
  store: AllowanceStore | undefined,
  { id: conversation, userId, tenant }: Pick<ConversationMeta, 'id' | 'userId' | 'tenant'>,
  agent: EffectiveAgent | undefined,
  { request, allowance, answer, answeredAt = 0 }: AnsweredRequest,
): Promise<void> {
  if (store === undefined || agent === undefined || allowance?.scopes.includes('always') !== true) return;
  if (answer?.decision !== 'allow' || answer.allow !== 'always') return;
  const { scopes: _, ...what } = allowance;
  await store.addAllowance(
    { userId, tenant },
    {
      ...what,
      id: allowanceId(conversation, request),
      scope: 'always',
      by: answer.by,
      at: answeredAt,
      bundle: agent.bundle,
      agent: agent.id,
      conversation,
    },
  );
}
