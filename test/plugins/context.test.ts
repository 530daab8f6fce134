import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contextGroup } from '../../src/plugins/tools/context.ts';
import { excerpt } from '../../src/plugins/tools/text-page.ts';
import { aHouse, aTool } from '../support/house.ts';
import { runTool } from '../support/tool-context.ts';

interface Page {
  readonly value: { readonly offset: number; readonly next_offset: number | null; readonly length: number };
  readonly content?: readonly { readonly text: string }[];
}

const whole = fc.string({ unit: 'grapheme', maxLength: 60 });

test('pages of any size put together are the text, and none splits a surrogate pair', async () => {
  await fc.assert(
    fc.asyncProperty(whole, fc.integer({ min: 1, max: 9 }), async (text, limit) => {
      let read = '';
      for (let offset: number | null = 0; offset !== null;) {
        const page = (await runTool(
          contextGroup,
          'context_read',
          { ref: 'r', offset, limit },
          { readBody: () => text },
        )) as Page;
        const piece = page.content?.[0]?.text ?? '';
        assert.ok(piece.isWellFormed());
        assert.ok(piece.length <= limit + 1, 'a pair may be one more');
        read += piece;
        offset = page.value.next_offset;
      }
      assert.equal(read, text);
    }),
  );
});

test('an offset inside a pair is moved to its start, and bytes bound what characters do not', () => {
  assert.deepEqual(excerpt('a😀b', 2, 2, 100), { start: 1, text: '😀' });
  assert.deepEqual(excerpt('😀😀', 0, 1, 100), { start: 0, text: '😀' });
  assert.deepEqual(excerpt('ééé', 0, 3, 4), { start: 0, text: 'éé' });
});

test('what cannot be read is told with what can', async () => {
  const read = (args: Record<string, string | number>) =>
    runTool(contextGroup, 'context_read', args, { readBody: (ref) => (ref === 'r' ? 'text' : undefined) });
  const faults: readonly (readonly [args: Record<string, string | number>, code: string, says: RegExp])[] = [
    [{}, 'invalid', /exactly one of ref, action and turn/],
    [{ ref: 'r', turn: 1 }, 'invalid', /exactly one/],
    [{ action: 't1-1-1' }, 'unknown_action', /Copy the id/],
    [{ ref: 'other' }, 'unknown_ref', /Copy the ref/],
    [{ turn: 1 }, 'unknown_turn', /this is the first/],
    [{ ref: 'r', offset: 4 }, 'past_end', /ends at 4/],
  ];
  for (const [args, code, says] of faults) {
    const failure = (await read(args)) as { code: string; message: string };
    assert.equal(failure.code, code);
    assert.match(failure.message, says);
  }
});

test('an earlier turn reads as what was said, called, seen and answered', async () => {
  const house = aHouse({
    tools: [
      aTool('add', ({ a, b }: { a: number; b: number }) => a + b),
      aTool('fail', () => {
        throw new Error('no');
      }),
    ],
    script: [
      {
        text: 'Let me see.',
        actions: [
          { name: 'add', arguments: { b: 2, a: 1 } },
          { name: 'fail', arguments: {} },
        ],
      },
      { text: 'It is 3.' },
      { text: 'Bye.' },
    ],
  });
  await house.ask('1 + 2?');
  const conversation = await house.ask('thanks');
  const page = (await runTool(contextGroup, 'context_read', { turn: 1 }, { conversation })) as Page;
  assert.equal(
    page.content?.[0]?.text,
    [
      'turn 1',
      'user: 1 + 2?',
      'assistant: Let me see.',
      'call: add {"a":1,"b":2}',
      'result: ok 3',
      'call: fail {}',
      'result: failed tool_failed: no',
      'assistant: It is 3.',
    ].join('\n'),
  );
});

test('the whole of a result that was cut can be read back by the ref the model was given', async () => {
  const long = 'x'.repeat(3_000) + 'needle' + 'y'.repeat(3_000);
  const spec = contextGroup.tools[0]!;
  const house = aHouse({
    tools: [
      aTool('fetch', () => long),
      aTool('context_read', (args: never, context) =>
        spec.run({ offset: 0, limit: 100, ...(args as object) }, context),
      ),
    ],
    limits: { maxResultBytes: 512 },
    script: ({ results, step }) => {
      if (step === 0) return { actions: [{ name: 'fetch', arguments: {} }] };
      const ref = results[0]?.observation.ref;
      if (ref !== undefined) return { actions: [{ name: 'context_read', arguments: { ref, offset: 2_990 } }] };
      const [part] = results[0]?.observation.content ?? [];
      return { text: part?.type === 'text' ? part.text : 'nothing' };
    },
  });
  const conversation = await house.ask('find it');
  assert.equal(conversation.turns.at(-1)?.output, long.slice(2_990, 3_090));
});
