// The lines that people read, as a fold: the same in pieces and at once, and an entry that changes stays itself.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { entryDigest, type Entry, type EntryRole } from '../../src/domain/entry.ts';
import type { Draft, Fact } from '../../src/domain/event.ts';
import { emptyTimeline, entriesOf, entriesSince, project, timelineOf } from '../../src/domain/timeline.ts';
import { placed } from '../../src/adapters/stores/fact.ts';

/** A log of the first version that has a fact of every type. */
const everyFact = readFileSync(path.join(import.meta.dirname, '../histories/v1-every-fact.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Fact); // written by that version's log

const AGENT = {
  id: 'main',
  bundle: 'test@1',
  revision: '0',
  grammar: 'native' as const,
  instructions: '',
  tools: [],
  inactive: [],
  role: 'balanced',
  models: [{ provider: 'scripted', model: 'authored' }],
  limits: {
    maxIterations: 9,
    maxActions: 9,
    maxConcurrent: 1,
    maxFaults: 3,
    maxAttempts: 3,
    maxPauses: 1,
    maxRepeats: 3,
    toolTimeoutMs: 1,
    modelIdleMs: 1,
    maxResultBytes: 256,
  },
  onLimit: 'end' as const,
  renderThinking: true,
};

const model = { provider: 'scripted', model: 'authored' };
const heard: Draft = { type: 'io.input', payload: { text: 'Mail it.', mode: 'message' } };
const started: Draft = { type: 'agent.turn.start', payload: { agent: AGENT, digest: 'd' }, turnId: 't1' };
const resumed: Draft = { type: 'agent.turn.start', payload: { digest: 'd', resumed: true }, turnId: 't1' };
const called = (iteration: number, attempt = 1): Draft => ({
  type: 'llm.request',
  payload: { model, role: 'balanced', attempt },
  turnId: 't1',
  iteration,
});
const asked: Draft = {
  type: 'llm.response',
  payload: {
    content: [
      { type: 'text', text: 'I will mail it.' },
      { type: 'action', id: 't1-1-1', name: 'mail', input: '{"to":"Bo"}' },
    ],
    stop: 'actions',
    usage: { input: 10, output: 2 },
    attempt: 1,
  },
  turnId: 't1',
  iteration: 1,
};
const held: Draft = {
  type: 'hitl.requested',
  payload: {
    request: 't1-1-1-a1',
    kind: 'action',
    question: 'Allow mail?',
    action: 't1-1-1',
    gate: 'gate.tool_approval',
  },
  turnId: 't1',
};
const edited: Draft = {
  type: 'hitl.responded',
  payload: { request: 't1-1-1-a1', decision: 'edit', arguments: { to: 'Al' }, by: 'ana' },
  turnId: 't1',
};
const begun: Draft = {
  type: 'tool.invoke',
  payload: {
    action: 't1-1-1',
    name: 'mail',
    arguments: { to: 'Al' },
    argumentHash: 'h',
    effect: 'once',
    revisedBy: 'ana',
  },
  turnId: 't1',
};
const observed: Draft = {
  type: 'tool.result',
  payload: { action: 't1-1-1', outcome: 'ok', value: 'sent' },
  turnId: 't1',
};
const answered: Draft = {
  type: 'llm.response',
  payload: { content: [{ type: 'text', text: 'Mailed.' }], stop: 'finished', usage: {}, attempt: 1 },
  turnId: 't1',
  iteration: 2,
};
const output: Draft = { type: 'io.output', payload: { text: 'Mailed, and checked.' }, turnId: 't1' };
const ended: Draft = {
  type: 'agent.turn.end',
  payload: { status: 'completed', stop: 'finished', iterations: 2, toolCalls: 1, usage: {} },
  turnId: 't1',
};

/** Facts a second apart. */
function log(...drafts: readonly Draft[]): Fact[] {
  return drafts.map((draft, index) => placed('c', 'main', index + 1, (index + 1) * 1_000, draft));
}

function only<R extends EntryRole>(entries: readonly Entry[], role: R): Extract<Entry, { role: R }> {
  const found = entries.filter((one): one is Extract<Entry, { role: R }> => one.role === role);
  assert.equal(found.length, 1, `one ${role}`);
  return found[0]!;
}

describe('the timeline', () => {
  it('is the same whether facts are folded in pieces or at once', () => {
    const whole = timelineOf(everyFact);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: everyFact.length })), (cuts) => {
        let timeline = emptyTimeline;
        const bounds = [0, ...cuts.sort((left, right) => left - right), everyFact.length];
        for (let index = 1; index < bounds.length; index++)
          timeline = timelineOf(everyFact.slice(bounds[index - 1], bounds[index]), timeline);
        assert.deepEqual(entriesOf(timeline), entriesOf(whole));
        assert.equal(timeline.head, whole.head);
      }),
    );
  });

  it('takes any facts in any order without failing, and changes no version that was handed out', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...everyFact), { maxLength: 80 }), (facts) => {
        let timeline = emptyTimeline;
        for (const [index, fact] of facts.entries()) {
          const before = structuredClone(entriesOf(timeline));
          const next = project(timeline, { ...fact, seq: index + 1 });
          assert.deepEqual(entriesOf(timeline), before);
          timeline = next;
        }
      }),
    );
  });

  it('gives entries their ids and places once: they only change their revision and what they say', () => {
    let timeline = emptyTimeline;
    for (const fact of everyFact) {
      const before = entriesOf(timeline);
      timeline = project(timeline, fact);
      const now = entriesOf(timeline);
      for (const [index, entry] of before.entries()) {
        assert.deepEqual([now[index]?.id, now[index]?.position], [entry.id, index + 1]);
        if (entryDigest(now[index]!) !== entryDigest(entry)) assert.equal(now[index]?.revision, fact.seq);
      }
    }
    assert.equal(new Set(entriesOf(timeline).map((one) => one.id)).size, entriesOf(timeline).length);
  });

  it('tells a turn in the order in which it happened', () => {
    const entries = entriesOf(
      timelineOf(
        log(
          heard,
          started,
          called(1),
          asked,
          held,
          edited,
          resumed,
          begun,
          observed,
          called(2),
          answered,
          output,
          ended,
        ),
      ),
    );
    assert.deepEqual(
      entries.map(({ role, text }) => `${role}: ${text}`),
      [
        'user: Mail it.',
        'call: scripted authored',
        'assistant: I will mail it.',
        'action: mail: ok',
        'call: scripted authored',
        'assistant: Mailed, and checked.',
        'end: completed',
      ],
    );
  });

  it('keeps an action one entry from the asking to the result: what was asked for, who changed it, how long it took', () => {
    const facts = log(heard, started, called(1), asked, held, edited, begun, observed);
    const states = facts.map(
      (_, index) => entriesOf(timelineOf(facts.slice(0, index + 1))).find((one) => one.role === 'action')?.data.state,
    );
    assert.deepEqual(states, [undefined, undefined, undefined, 'asked', 'waiting', 'asked', 'running', 'done']);
    const { data } = only(entriesOf(timelineOf(facts)), 'action');
    assert.deepEqual(
      [data.askedFor, data.arguments, data.revisedBy, data.ms],
      [{ to: 'Bo' }, { to: 'Al' }, 'ana', 1_000],
    );
    assert.deepEqual([data.requests[0]?.answer?.decision, data.requests[0]?.answeredAt], ['edit', 6_000]);
  });

  it('hands out what is new or has changed since a revision, and no more', () => {
    const timeline = timelineOf(log(heard, started, called(1), asked, held, edited, begun, observed));
    assert.deepEqual(
      entriesSince(timeline, 6).map(({ role }) => role),
      ['action'],
    );
    assert.deepEqual(entriesSince(timeline, 8), []);
  });

  it('tells what the provider did by itself as an action that nobody here was asked for', () => {
    const content = [
      {
        type: 'provider' as const,
        kind: 'google.source',
        role: 'other' as const,
        data: { url: 'https://a.test', title: 'Tea' },
      },
      { type: 'text' as const, text: 'Hot.' },
    ];
    const said: Draft = {
      type: 'llm.response',
      payload: { attempt: 1, content, stop: 'finished', usage: { searches: 1 } },
      turnId: 't1',
      iteration: 1,
    };
    const found = entriesOf(timelineOf(log(heard, started, called(1), said))).find(({ role }) => role === 'action');
    assert.ok(found?.role === 'action');
    const { name, by, state, observation } = found.data;
    assert.deepEqual([found.id, name, by, state], ['t1-i1-provider-1', 'web_search', 'provider', 'done']);
    assert.deepEqual(observation, { outcome: 'ok', value: { results: [{ url: 'https://a.test', title: 'Tea' }] } });
  });

  it('shows no answer that a gate may still refuse', () => {
    const entries = entriesOf(timelineOf(log(heard, started, called(1), { ...answered, iteration: 1 })));
    assert.deepEqual(
      entries.map(({ role }) => role),
      ['user', 'call'],
    );
  });

  it('keeps the attempts at one call together', () => {
    const failed: Draft = {
      type: 'llm.response',
      payload: {
        content: [],
        stop: 'error',
        usage: {},
        attempt: 1,
        failure: { class: 'server', message: 'It broke.' },
      },
      turnId: 't1',
      iteration: 1,
    };
    const { data } = only(
      entriesOf(timelineOf(log(heard, started, called(1), failed, called(1, 2), { ...answered, iteration: 1 }))),
      'call',
    );
    assert.deepEqual(
      data.attempts.map((one) => one.failure?.class),
      ['server', undefined],
    );
    assert.equal(data.state, 'done');
  });

  it('says that another process went on, except where an answer was the reason', () => {
    const notices = (...drafts: Draft[]) =>
      entriesOf(timelineOf(log(...drafts))).filter(({ role }) => role === 'notice').length;
    assert.equal(notices(heard, started, called(1), resumed), 1);
    assert.equal(notices(heard, started, called(1), asked, held, edited, resumed), 0);
  });

  it('says nothing of a stop where a fact from outside made a turn that rested go on', () => {
    const error = { code: 'x', message: 'x' };
    const reasons: Draft[] = [
      { type: 'io.input', payload: { text: 'And this.', mode: 'steer' } },
      { type: 'hitl.cancel', payload: { request: 'r', reason: 'expired' } },
      { type: 'computation.ended', payload: { ticket: 'k', outcome: 'failed', error, by: 'clock' } },
      { type: 'subagent.ended', payload: { conversation: 'child', status: 'completed' } },
      { type: 'limits.changed', payload: { limits: {}, by: 'ana' } },
      { type: 'gate.llm.retry', payload: {} },
      { type: 'cancel.request', payload: { by: 'ana' } },
      { type: 'cancel.resume', payload: { by: 'ana' } },
    ];
    for (const reason of reasons) {
      const entries = entriesOf(timelineOf(log(heard, started, called(1), asked, reason, resumed)));
      assert.ok(!entries.some((one) => one.role === 'notice' && one.data.kind === 'restart'), reason.type);
    }
  });
});
