// Logs of past versions, a fact a line, as `read` gave them. They are folded by the code of today and must say what they
// said then. A file here is never changed; a new version adds one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { iterationsOf, openRequests, type Conversation, type Turn } from '../../src/domain/conversation.ts';
import { fold } from '../../src/domain/fold.ts';
import { facts, type Fact } from '../../src/domain/event.ts';
import { statusOf } from '../../src/domain/run.ts';
import { HISTORIES, histories, readHistory } from '../support/histories.ts';

/** What a conversation came to, in a form that a person can compare. */
function summaryOf(conversation: Conversation): unknown {
  const { head, turns, turn, inbox, summary, usage, sections } = conversation;
  return {
    head,
    status: statusOf(conversation),
    turns: [...turns].map(turnSummary),
    ...(turn === undefined ? {} : { turn: turnSummary(turn), asked: openRequests(turn).map((one) => one.question) }),
    unread: [...(turn?.pending ?? []), ...inbox].map((one) => one.text),
    ...{ summary, usage, sections },
  };
}

function turnSummary(turn: Turn): unknown {
  return {
    said: turn.inputs.map((one) => one.text),
    status: turn.end?.status,
    calls: turn.calls,
    toolCalls: turn.toolCalls,
    faults: turn.faults,
    iterations: [...iterationsOf(turn)].map(({ attempts, inputs, thoughts, actions }) => ({
      attempts: attempts.length,
      inputs: inputs.map((one) => one.text),
      thoughts: thoughts.map((one) => one.text),
      actions: actions.map(({ action, observation }) => `${action.id} ${observation?.outcome ?? 'open'}`),
    })),
    output: turn.output,
  };
}

for (const name of histories) {
  test(`the log ${name} reads as it did when it was written`, () => {
    const history = readHistory(name);
    const [first] = history;
    assert.ok(first !== undefined);
    const conversation = fold(first.conversationId, first.agentPath, history);
    const expected: unknown = JSON.parse(
      readFileSync(path.join(HISTORIES, name.replace('.jsonl', '.summary.json')), 'utf8'),
    );
    assert.deepEqual(JSON.parse(JSON.stringify(summaryOf(conversation))), expected);
  });
}

test('there is a history with every fact in its first version', () => {
  const stated = new Set(histories.flatMap((name) => readHistory(name).map((fact) => fact.type)));
  assert.deepEqual(
    Object.keys(facts).filter((type) => !stated.has(type as Fact['type'])),
    [],
  );
});
