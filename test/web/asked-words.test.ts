import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '../../web/state/asked-words.ts';

test('of what a gate asks the card says what it does not show by itself', () => {
  const asked: readonly (readonly [question: string, name: string | undefined, words: string])[] = [
    ['Allow refund {"amount":80}?', 'refund', ''],
    ['More than 50 needs a person.\nAllow refund {"amount":80}?', 'refund', 'More than 50 needs a person.'],
    ['Allow mail {"to":"bo"}?', 'refund', 'Allow mail {"to":"bo"}?'],
    ['Go on with this plan?', undefined, 'Go on with this plan?'],
    ['Allow refunds for everybody?', 'refund', 'Allow refunds for everybody?'],
  ];
  assert.deepEqual(
    asked.map(([question, name]) => wordsOf(question, name)),
    asked.map(([, , words]) => words),
  );
});
