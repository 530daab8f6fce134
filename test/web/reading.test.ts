// What the page makes of arguments, schemas, answers and conversations, before anything is drawn.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WireEntry } from '../../web/api/types.ts';
import { changesIn } from '../../web/state/changes.ts';
import { endingInWords } from '../../web/state/ending.ts';
import { turnsOf } from '../../web/state/entries.ts';
import { withFormulas } from '../../web/state/formulas.ts';
import { problemsOf, shapeOf } from '../../web/state/schema.ts';
import { numbersOf, sourcesOf } from '../../web/state/sources.ts';
import { fileName } from '../../web/state/file-name.ts';
import { versionLabels } from '../../web/state/version-labels.ts';

describe('formulas', () => {
  it('are known by what models put around them, and prices and code are none', () => {
    const told = {
      'so \\(a+b\\) and $x^2$ and $n$': 'so $$a+b$$ and $$x^2$$ and $$n$$',
      'see\n\\[\nx_1\n\\]': 'see\n$$\nx_1\n$$',
      '- one\n  $$y$$': '- one\n  $$\n  y\n  $$',
      'from $5 to $7, US$5 and $10-$20': 'from $5 to $7, US$5 and $10-$20',
      '`$x^2$` and `\\(a\\)`, $x^2$': '`$x^2$` and `\\(a\\)`, $$x^2$$',
      '```sh\necho $a_1 $b_1$\n```': '```sh\necho $a_1 $b_1$\n```',
    };
    assert.deepEqual(Object.keys(told).map(withFormulas), Object.values(told));
  });
});

describe('the end of a turn', () => {
  const words = (stop: string, code: string, told?: string) =>
    endingInWords({ status: 'error', stop, error: { code, message: 'Do something else.' } }, told);

  it('is told to the person, and what was meant for the agent only as that', () => {
    assert.equal(words('error', 'auth').words, 'This went wrong.');
    assert.match(words('error', 'repeated', 'Do something else.').words, /^The agent got no further/);
    assert.deepEqual(
      [words('limit', 'max_money'), words('gate', 'pii')].map(({ goesOn, repeats }) => [goesOn, repeats]),
      [
        [true, false],
        [false, true],
      ],
    );
  });
});

describe('changes in arguments', () => {
  const found = (given: object) => changesIn(given);

  it('are seen under the names that tools give them, and the rest is kept', () => {
    assert.deepEqual(found({ path: 'a.md', old_string: 'x', new_string: 'y', all: true }), {
      changes: [{ kind: 'texts', file: 'a.md', before: 'x', after: 'y' }],
      rest: { all: true },
    });
    assert.deepEqual(found({ file: 'a', edits: [{ oldText: '1', newText: '2' }] }).changes, [
      { kind: 'texts', file: 'a', before: '1', after: '2' },
    ]);
    assert.equal(found({ patch: '@@ -1,1 +1,1 @@\n-a\n+b' }).changes[0]?.kind, 'patch');
    assert.deepEqual(found({ path: 'n.md', content: 'all of it' }).changes, [
      { kind: 'whole', file: 'n.md', text: 'all of it' },
    ]);
  });

  it('are not made up where there are none', () => {
    for (const given of [{ text: 'x' }, { path: 'x' }, { edits: [{ old: 'a' }] }, { before: 1, after: 2 }])
      assert.deepEqual([given, found(given).changes], [given, []]);
  });
});

describe('a schema as a form', () => {
  const root = { $defs: { when: { type: 'string', format: 'date' } } };
  const kind = (schema: object, value?: unknown) => {
    const shape = shapeOf(schema, root, value);
    return `${shape.kind}${shape.isNullable ? '?' : ''}`;
  };

  it('has a field for what people can fill in, and JSON for the rest', () => {
    assert.deepEqual(
      [
        kind({ type: 'string' }),
        kind({ type: ['integer', 'null'] }),
        kind({ anyOf: [{ type: 'boolean' }, { type: 'null' }] }),
        kind({ enum: ['a', 1] }),
        kind({ anyOf: [{ const: 'a' }, { const: 'b' }] }),
        kind({ $ref: '#/$defs/when' }),
        kind({ type: 'array', items: { type: 'string' } }),
        kind({ properties: { a: {} } }),
        kind({ anyOf: [{ type: 'string' }, { type: 'number' }] }, { deep: 1 }),
        kind({ $ref: '#/$defs/none' }, 'by its value'),
        kind({ $ref: 'https://elsewhere.example/schema' }, 3),
      ].join(' '),
      'text number? flag? choice choice text list object object text number',
    );
  });

  it('says where a value does not fit, and finds nothing with a schema that cannot be used', () => {
    const schema = {
      type: 'object',
      required: ['to'],
      properties: { to: { type: 'array', items: { type: 'string' } } },
    };
    assert.deepEqual([...problemsOf(schema, { to: ['a', 1] }).keys()], ['to.1']);
    assert.deepEqual([...problemsOf(schema, {}).keys()], ['']);
    assert.equal(problemsOf({ $ref: '#/nowhere' }, {}).size, 0);
  });
});

function entry(role: WireEntry['role'], text: string, data: object, position: number): WireEntry {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    id: `e${position}`,
    digest: text,
    role,
    text,
    data: data as never,
    position,
    revision: position,
    at,
    turn: 1,
  };
}

const action = entry(
  'action',
  'search',
  {
    name: 'search',
    arguments: { query: 'looms' },
    state: 'done',
    verdicts: [],
    requests: [],
    observation: {
      outcome: 'ok',
      value: {
        results: [
          { title: 'How', url: 'https://a.example/how/' },
          { link: 'https://b.example', name: 'B' },
        ],
      },
      content: [{ type: 'text', text: 'See https://c.example/x. Not javascript:alert(1)' }],
    },
  },
  2,
);
const conversation = [
  entry('user', 'How?', { mode: 'message' }, 1),
  action,
  entry('assistant', 'Like [this](https://a.example/how#top) or [that](javascript:alert(1)).', { final: true }, 3),
  entry('end', 'completed', { status: 'completed', stop: 'answer', iterations: 1, toolCalls: 1, usage: {}, ms: 1 }, 4),
];

describe('a conversation', () => {
  it('has sources: those of the answer first, each page once, and nothing but web addresses', () => {
    const sources = sourcesOf(turnsOf(conversation)[0]!);
    assert.deepEqual(
      sources.map(({ url, title, isCited }) => [url, title, isCited]),
      [
        ['https://a.example/how#top', 'How', true],
        ['https://b.example', 'B', false],
        ['https://c.example/x', 'c.example', false],
      ],
    );
    assert.equal(numbersOf(sources).get('https://a.example/how'), 1);
  });

  it('is kept in a file of its name', () => {
    const head = { id: 'run_1', title: 'How?' };
    assert.equal(fileName({ ...head, title: 'Wie geht’s? ../x' }, 'md'), 'wie-geht-s-x.md');
    assert.equal(fileName({ ...head, title: '…' }, 'md'), 'run_1.md');
  });

  it('that is a version of another stays one of the same set', () => {
    assert.deepEqual(versionLabels({ id: 'a', metadata: {} }, 5), { version_of: 'a', version_at: '5' });
    const version = { id: 'b', metadata: { version_of: 'a', version_at: '5' } };
    assert.deepEqual(versionLabels(version, 5), { version_of: 'a', version_at: '5' });
    assert.deepEqual(versionLabels(version, 9), { version_of: 'b', version_at: '9' });
  });
});
