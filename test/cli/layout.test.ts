// Text as it is laid out for a terminal: pure, so tested without one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import pc from 'picocolors';
import type { Entry } from '../../src/domain/entry.ts';
import { readTyped } from '../../src/cli/chat-commands.ts';
import { parseDuration } from '../../src/cli/drive-run.ts';
import { createProse, prose } from '../../src/cli/prose.ts';
import { endLine } from '../../src/cli/turn-end.ts';
import { ago, duration, harmless, oneLine, widthOf, wrap } from '../../src/cli/text.ts';

const plain = pc.createColors(false);
const colourful = pc.createColors(true);

describe('laying out text', () => {
  it('wraps at spaces, breaks what is too long, and keeps line breaks and indentation', () => {
    assert.deepEqual(wrap('one two three\n  four', { columns: 8 }), ['one two', 'three', '  four']);
    assert.deepEqual(wrap('abcdefghij', { columns: 4, first: '> ', rest: '  ' }), [
      '> ab',
      '  cd',
      '  ef',
      '  gh',
      '  ij',
    ]);
  });

  it('never makes a line wider than asked, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 8, max: 60 }), (text, columns) => {
        for (const line of wrap(harmless(text), { columns, first: '  ', rest: '    ' }))
          assert.ok(widthOf(line) <= columns, line);
        assert.ok(widthOf(oneLine(text, columns)) <= columns);
      }),
    );
  });

  it('counts wide characters as two columns', () => {
    assert.deepEqual(wrap('漢字 漢字', { columns: 6 }), ['漢字', '漢字']);
  });

  it('shows what could move the cursor or hide text', () => {
    assert.equal(harmless('a\x1b[2Jb\u202ec\r\nd\te'), 'a␛[2Jb\\u202ec\nd\te');
  });

  it('counts the actions of a turn that did not succeed, and leaves no unit alone on a line', () => {
    const placed = { position: 1, revision: 1, since: 1, at: 0, turn: 2, text: '' };
    const action = (id: string, turn: number): Entry => ({
      ...placed,
      id,
      turn,
      role: 'action',
      data: {
        name: 'pay',
        arguments: {},
        state: 'done',
        observation: { outcome: 'refused' },
        verdicts: [],
        requests: [],
      },
    });
    const data = { status: 'completed', stop: 'finished', iterations: 2, toolCalls: 1, usage: {}, ms: 3_400 } as const;
    const line = endLine({ ...placed, id: 'end', role: 'end', data }, [action('a', 1), action('b', 2)]);
    assert.deepEqual(wrap(line, { columns: 30 }), ['2 model calls ·', '2 actions, 1 without success ·', '3.4 s']);
  });

  it('says times as people do', () => {
    assert.deepEqual([12, 3_400, 125_000, 7_500_000].map(duration), ['12 ms', '3.4 s', '2 m 05 s', '2 h 05 m']);
    assert.deepEqual([10, 3e5, 2e7, 3e8].map(ago), ['just now', '5 m ago', '5 h ago', '3 d ago']);
  });

  it('reads times as people write them', () => {
    assert.deepEqual(
      ['500ms', '30s', '2m', '1h', '7', '1.5s'].map((text) => parseDuration(text, '--timeout')),
      [500, 30_000, 120_000, 3_600_000, 7_000, 1_500],
    );
    for (const wrong of ['', 'soon', '-1s', '0', '1d', '1e9h'])
      assert.throws(() => parseDuration(wrong, '--timeout'), /usage/);
  });
});

describe('laying out what a model writes', () => {
  const markdown =
    '# Title\n\nSome **bold words** and `code`.\n\n- one item that is long\n- two\n\n```js\nlet  x;\n```\n| a | b |\nend';

  it('gives headings, lists, emphasis and code their looks', () => {
    const shown = prose(markdown, { columns: 20, indent: '  ', colors: colourful });
    assert.ok(shown.includes(`  ${colourful.bold('Title')}`));
    assert.ok(shown.includes(`${colourful.bold('bold')} ${colourful.bold('words')}\n  and`));
    assert.ok(shown.includes('  • one item that is\n    long\n  • two'));
    assert.ok(shown.includes(`  ${colourful.cyan('let  x;')}`));
    assert.ok(shown.endsWith('  | a | b |\n  end'));
  });

  it('keeps every mark where there are no colours', () => {
    assert.equal(prose(markdown, { columns: 80, indent: '', colors: plain }), markdown);
  });

  it('gives the same whether the text comes at once or in pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('word ', '**', '`', '\n', '- ', '# ', '```\n', ' ', '| ', 'longerword', '漢', '> ')),
        fc.integer({ min: 1, max: 5 }),
        (parts, size) => {
          const text = parts.join('');
          const options = { columns: 24, indent: '  ', colors: colourful };
          const whole = createProse(options);
          const pieces = createProse(options);
          let told = '';
          for (let at = 0; at < text.length; at += size) told += pieces.write(text.slice(at, at + size));
          assert.equal(told + pieces.end(), whole.write(text) + whole.end());
        },
      ),
    );
  });
});

describe('reading what is typed', () => {
  it('tells commands from messages', () => {
    assert.deepEqual(readTyped(' /steer  the other way '), { type: 'command', name: '/steer', rest: 'the other way' });
    assert.deepEqual(readTyped('/q'), { type: 'command', name: '/quit', rest: '' });
    assert.deepEqual(readTyped('/etc/hosts is a file'), { type: 'message', text: '/etc/hosts is a file' });
    assert.deepEqual(readTyped('/hepl'), { type: 'unknown', name: '/hepl' });
    assert.deepEqual(readTyped('  '), { type: 'nothing' });
  });
});
