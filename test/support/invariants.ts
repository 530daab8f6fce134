import { isDeepStrictEqual } from 'node:util';
import { transcript } from '../../src/assembly/transcript.ts';
import { emptyConversation, type Conversation } from '../../src/domain/conversation.ts';
import { apply, fold } from '../../src/domain/fold.ts';
import type { Fact } from '../../src/domain/event.ts';
import type { Message } from '../../src/domain/model.ts';
import { next } from '../../src/loop/next.ts';

/** Every effect that really happened, by idempotency key: kept outside the log, as the world is. */
export type Ledger = Map<string, number>;

/**
 * What holds of every log, however it came about. The broken rules, each in words.
 */
export function brokenRules(facts: readonly Fact[], ledger: Ledger = new Map()): string[] {
  const broken: string[] = [];
  const effects = new Map<string, string>();
  const invoked = new Set<string>();
  const results = new Map<string, string>();
  const state = { open: false, asked: false };
  facts.forEach((fact, index) => {
    if (fact.seq !== index + 1) broken.push(`I1 seq ${fact.seq} stands at ${index + 1}`);
    switch (fact.type) {
      case 'agent.turn.start':
        if (state.open && fact.payload.resumed !== true) broken.push(`a turn begins inside a turn at ${fact.seq}`);
        state.open = true;
        break;
      case 'agent.turn.end':
        if (!state.open) broken.push(`a turn ends that is not open at ${fact.seq}`);
        state.open = false;
        break;
      case 'cancel.resume':
        state.open = true;
        break;
      case 'tool.invoke':
        if (invoked.has(fact.payload.action)) broken.push(`two intents of ${fact.payload.action}`);
        invoked.add(fact.payload.action);
        effects.set(fact.payload.action, fact.payload.effect);
        break;
      case 'tool.result': {
        const { action, outcome } = fact.payload;
        if (results.has(action)) broken.push(`I2 two results of ${action}`);
        results.set(action, outcome);
        if (outcome === 'ok' && !invoked.has(action)) broken.push(`I3 ${action} is ok and was never begun`);
        break;
      }
      case 'llm.request':
        state.asked = true;
        break;
      case 'llm.response':
        if (!state.asked) broken.push(`an answer without a question at ${fact.seq}`);
        state.asked = false;
        break;
      default:
        break;
    }
  });
  for (const [key, times] of ledger) {
    const action = key.slice(key.lastIndexOf('/') + 1);
    if (!invoked.has(action)) broken.push(`${action} happened without an intent`);
    if (effects.get(action) === 'once' && times > 1) broken.push(`I4 ${action} happened ${times} times`);
    if (effects.get(action) === 'once' && results.get(action) === 'ok' && times !== 1)
      broken.push(`I4 ${action} is ok and happened ${times} times`);
  }
  const [first] = facts;
  if (first !== undefined) {
    const whole = fold(first.conversationId, first.agentPath, facts);
    let stepwise = emptyConversation(first.conversationId, first.agentPath);
    let sent: readonly Message[] = [];
    for (const fact of facts) {
      if (fact.type === 'llm.request') {
        const sending = transcript(stepwise, { provider: 'scripted', model: 'scripted' });
        const changed = brokenPrefix(sent, sending);
        if (changed !== undefined) broken.push(`at ${fact.seq} the cached prompt changed: ${changed}`);
        sent = sending;
      }
      stepwise = apply(stepwise, fact);
      broken.push(
        ...brokenMessages(transcript(stepwise, { provider: 'scripted', model: 'scripted' })).map(
          (rule) => `${rule} after fact ${fact.seq}`,
        ),
      );
    }
    if (!isDeepStrictEqual(summary(whole), summary(stepwise))) broken.push('I7 the fold depends on how it was read');
    if (!state.open && whole.inbox.length === 0 && next(whole).type !== 'rest')
      broken.push('I8 an ended conversation wants more');
  }
  return broken;
}

function summary(conversation: Conversation): unknown {
  return {
    head: conversation.head,
    turn: conversation.turn,
    turns: [...conversation.turns],
    inbox: conversation.inbox,
  };
}

/** What every provider demands of a transcript, checked without the code that makes one. */
export function brokenMessages(messages: readonly Message[]): string[] {
  const broken: string[] = [];
  const ids = new Set<string>();
  messages.forEach((message, index) => {
    switch (message.role) {
      case 'assistant': {
        const calls = message.content.filter((block) => block.type === 'action').map((block) => block.id);
        for (const id of calls) {
          if (ids.has(id)) broken.push(`the id ${id} is used twice`);
          if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) broken.push(`the id ${id} is not safe`);
          ids.add(id);
        }
        const after = messages[index + 1];
        const answered = after?.role === 'tool' ? after.results.map((one) => one.id) : [];
        if (calls.join() !== answered.join()) broken.push(`calls ${calls.join()} are answered by ${answered.join()}`);
        if (message.content.length === 0) broken.push('an empty assistant message');
        for (const block of message.content)
          if (block.type === 'text' && block.text.trim() === '') broken.push('an empty text block');
        break;
      }
      case 'tool':
        if (messages[index - 1]?.role !== 'assistant') broken.push('results that follow no call');
        break;
      case 'user':
        if (message.content.length === 0) broken.push('an empty user message');
        for (const part of message.content)
          if (part.type === 'text' && part.text.trim() === '') broken.push('an empty user text');
        break;
    }
  });
  if (messages.length > 0 && messages[0]?.role !== 'user') broken.push('the first message is not a user’s');
  return broken;
}

/** Between two model calls of one conversation, what comes before announce may only grow. */
export function brokenPrefix(before: readonly Message[], after: readonly Message[]): string | undefined {
  const changed = before.findIndex((message, index) => !isDeepStrictEqual(message, after[index]));
  return changed < 0
    ? undefined
    : `message ${changed} changed from ${JSON.stringify(before[changed])} to ${JSON.stringify(after[changed])}`;
}
