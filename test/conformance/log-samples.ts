import assert from 'node:assert/strict';
import type { Clock, Instant } from '../../src/base/clock.ts';
import type { Draft, Fact } from '../../src/domain/event.ts';
import type { AppendResult, ConversationMeta, Lease, Log } from '../../src/kernel/log.ts';

/** A clock that stands still until it is told to go. */
export class StillClock implements Clock {
  #now: Instant;

  constructor(now: Instant = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now;
  }

  after(): () => void {
    return () => undefined;
  }

  pass(ms: number): void {
    this.#now += ms;
  }
}

export function aConversation(id: string, change: Partial<ConversationMeta> = {}): ConversationMeta {
  const rest = { agent: 'desk', bundle: 'workspace@1', userId: 'ana', tenant: 'acme', agentPath: 'desk' };
  return { id, ...rest, createdAt: 1_700_000_000_000, ...change };
}

export function say(text: string, key?: string): Draft {
  return { type: 'io.input', payload: { text, mode: 'message' }, key };
}

export function answer(text: string, change: Partial<Omit<Draft, 'type' | 'payload'>> = {}): Draft {
  return { type: 'io.output', turnId: 't1', payload: { text }, ...change };
}

export async function leaseOn(log: Log, id: string, owner = 'worker-1', ttlMs = 15_000): Promise<Lease> {
  const lease = await log.take(id, owner, ttlMs);
  assert.ok(lease, `nobody else holds ${id}`);
  return lease;
}

export function added(result: AppendResult): readonly Fact[] {
  assert.ok(result.ok, result.ok ? '' : `refused: ${result.reason}`);
  return result.facts;
}

export const seqs = (facts: readonly Fact[]): number[] => facts.map((fact) => fact.seq);
