// Who said what in a run, made of its facts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LoggedFact } from '../../web/api/operate-types.ts';
import { verdictsOf } from '../../web/inspect/verdicts-of.ts';

let seq = 0;
const fact = (type: string, payload: object): LoggedFact => ({ seq: ++seq, at: seq * 10, type, payload });

it('gates and people stand in the order in which they spoke, with what they spoke about and where the gate stands', () => {
  const facts = [
    fact('llm.response', { content: [{ type: 'action', id: 'a1', name: 'mail' }] }),
    fact('gate.verdict', {
      question: 'before:tool.invoke',
      gate: 'gate.ask',
      verdict: 'hold',
      action: 'a1',
      reason: 'ask',
    }),
    fact('hitl.requested', { request: 'r1', kind: 'action', action: 'a1' }),
    fact('hitl.responded', { request: 'r1', decision: 'reject', by: 'ana', note: 'too bold' }),
    fact('gate.verdict', {
      question: 'before:llm.request',
      gate: 'gate.loop',
      verdict: 'deny',
      code: 'max_iterations',
    }),
  ];
  const judges = [{ question: 'before:tool.invoke', priority: 30 }];
  const plugins = [{ id: 'gate.ask', about: '', judges, listens: [], answers: [], announces: [] }];
  assert.deepEqual(
    verdictsOf(facts, plugins).map(({ about, who, priority, said, why }) => [about, who, priority, said, why]),
    [
      ['mail', 'gate.ask', 30, 'hold', 'ask'],
      ['mail', 'ana', undefined, 'reject', 'too bold'],
      ['a model call', 'gate.loop', undefined, 'deny', 'max_iterations'],
    ],
  );
});

it('facts of another shape are no verdicts, and break nothing', () => {
  const odd = [fact('gate.verdict', {}), fact('llm.response', { content: 'text' }), fact('hitl.responded', { by: 7 })];
  assert.equal(verdictsOf(odd).length, 2);
});
