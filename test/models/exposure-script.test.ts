import assert from 'node:assert/strict';
import { test } from 'node:test';
import { script } from '../../agents/exposure.script.ts';
import { ScriptView } from '../../src/adapters/models/script.ts';
import type { Message } from '../../src/domain/model.ts';
import { aRequest, failed, ok, said, spoke, used } from '../support/streams.ts';

function reply(...messages: Message[]) {
  return script(new ScriptView(aRequest({ messages }), 'c1', 0, 0));
}

function numbers(...texts: string[]) {
  const messages = texts.flatMap((text) => [said(text), spoke('…')]).slice(0, -1);
  const args = reply(...messages).actions?.[0]?.arguments as Record<string, number> | undefined; // it is an object
  return args === undefined ? undefined : [args['position_value'], args['portfolio_value']];
}

test('numbers are read as people write them', () => {
  const texts: readonly (readonly [text: string, position: number, portfolio: number])[] = [
    ['Calculate the exposure of an illustrative $8,000 position in a $10,000 portfolio.', 8000, 10000],
    ['$8,000 of $10,000', 8000, 10000],
    ['8k in 10k', 8000, 10000],
    ['8 k in 10K?', 8000, 10000],
    ['1.5m out of 2 million', 1_500_000, 2_000_000],
    ['80 of 100', 80, 100],
    ['80/100', 80, 100],
    ["what is 1'250.50 of 3_000", 1250.5, 3000],
    ['€2bn of €4 billion.', 2e9, 4e9],
    ['my portfolio of $10,000 holds 8,000 of ACME', 8000, 10000],
    ['In a 10k portfolio I hold 8k', 8000, 10000],
    ['a position of 5 in a portfolio of 0', 5, 0],
    ['-5 of 10', -5, 10],
    ['.5 of 1', 0.5, 1],
    ['8,000 of 10,000 ABC3 shares', 8000, 10000],
  ];
  for (const [text, position, portfolio] of texts) assert.deepEqual(numbers(text), [position, portfolio], text);
});

test('without two amounts it asks, with an example', () => {
  for (const text of ['hello', '', 'what about 80%?', 'and 5k?', 'A1 of B2']) {
    const { text: asked, actions } = reply(said(text));
    assert.equal(actions, undefined, text);
    assert.match(asked ?? '', /I need two amounts.*“\$8,000 of \$10,000”/);
  }
});

test('a follow-up takes what it leaves out from before', () => {
  assert.deepEqual(numbers('8k of 10k', 'and 5k?'), [5000, 10000]);
  assert.deepEqual(numbers('8k of 10k', 'and 5k?', 'in a 20k portfolio?'), [5000, 20000]);
  assert.deepEqual(numbers('8k of 10k', 'thanks', 'and 5k?'), [5000, 10000]);
});

test('the answer names the numbers that the tool was given and recommends nothing', () => {
  const args = { position_value: 8000, portfolio_value: 10000 };
  const { text } = reply(said('8k of 10k'), ...used('calculate_exposure', args, ok({ exposure_pct: 80 })));
  assert.equal(
    text,
    'Fixture exposure: 80.00%\n\nThis is position exposure arithmetic (8,000 of 10,000), not a recommendation.',
  );
});

test('a failed tool is told in words', () => {
  const observation = failed('failed', 'Position must be nonnegative and portfolio positive');
  const { text } = reply(said('1 of 0'), ...used('calculate_exposure', {}, observation));
  assert.match(
    text ?? '',
    /^I could not calculate that exposure: Position must be nonnegative and portfolio positive\. /,
  );
});
