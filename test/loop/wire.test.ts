import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../src/assembly/render.ts';
import { emptyConversation } from '../../src/domain/conversation.ts';
import { apply } from '../../src/domain/fold.ts';
import { live } from '../support/life.ts';
import { validators, wireBody, WIRE_MODELS, WIRE_PROVIDERS } from '../support/wire.ts';

const SEEDS = 6;

for (const provider of WIRE_PROVIDERS) {
  test(`wherever a log is cut, its next request is one that ${provider} accepts`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { facts } = await live(seed);
      let conversation = emptyConversation('c1', 'main');
      for (const fact of facts) {
        conversation = apply(conversation, fact);
        // Between two facts of one phase the request would be the same: asked where a process may die or call.
        if (conversation.turn === undefined || fact.type === 'gate.verdict' || fact.type === 'llm.request') continue;
        const request = render(conversation, conversation.turn, {
          model: WIRE_MODELS[provider],
          announce: '[BUDGET]\niteration 1 of 2',
          toolChoice: undefined,
        });
        const problems = validators[provider](await wireBody(provider, request));
        assert.deepEqual({ seed, seq: fact.seq, problems }, { seed, seq: fact.seq, problems: [] });
      }
    }
  });
}
