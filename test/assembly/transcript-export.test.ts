import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transcriptOf } from '../../src/assembly/transcript-export.ts';
import { emptyTimeline, entriesOf, project } from '../../src/domain/timeline.ts';
import { hold } from '../../src/kernel/verdict.ts';
import { aHouse, aTool, type House } from '../support/house.ts';

const about = { id: 'c1', agent: 'main', title: 'Pay *Bo*', status: 'completed', createdAt: 0 };

async function exported(house: House, format: 'md' | 'jsonl'): Promise<string> {
  let timeline = emptyTimeline;
  for (const fact of await house.facts()) timeline = project(timeline, fact);
  return [...transcriptOf(about, entriesOf(timeline), format)].join('');
}

test('a transcript tells who said what, what was done, who allowed it and what it cost', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'pay', arguments: { to: 'Bo' } }] }, { text: 'Paid.' }],
    tools: [aTool('pay', () => 'done', { effect: 'once' })],
    plugins: (bus) => void bus.before('before:tool.invoke', () => hold('May it pay?')),
  });
  await house.ask('Pay Bo.');
  await house.post({
    type: 'hitl.responded',
    payload: { request: 't1-1-1-a1', decision: 'allow', by: 'ana', note: 'go' },
  });
  await house.drive();
  const text = await exported(house, 'md');
  const parts = [
    '# Pay \\*Bo\\*',
    '## Turn 1',
    '> Pay Bo.',
    '**Action** `pay` · ok',
    '"to": "Bo"',
    '> May it pay?',
    '**allow** by ana',
    '> go',
    '> Paid.',
    'tokens in',
  ];
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    assert.notEqual(at, -1, `${part} after ${from} in\n${text}`);
    from = at;
  }
});

test('what a model or a tool says cannot leave its place, load a picture or be HTML', async () => {
  const evil =
    'x\n```\n# Not a heading\n![p](http://evil/?q)\n<img src=x onerror=alert(1)>\n[a](javascript:alert(1))\n[r]: javascript:1\n\u202e\u001b[2J';
  const house = aHouse({
    script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: evil }],
    tools: [aTool('look', () => evil)],
  });
  await house.ask(evil);
  const text = await exported(house, 'md');
  const outside = text.replace(/^(`{3,})[a-z]*\n[^]*?\n\1$/gm, ''); // without code
  assert.doesNotMatch(outside, /<img|!\[|\]\(javascript|^# Not|^\[r\]:/m);
  assert.doesNotMatch(text, /[\u202e\u001b]/);
  assert.match(text, /^````\nx\n```$/m);
});

test('as lines, each entry is one JSON object, in the order of the run', async () => {
  const house = aHouse({ script: [{ text: 'Good day.' }] });
  await house.ask('Hello.');
  const lines = (await exported(house, 'jsonl')).trimEnd().split('\n');
  const roles = lines.map((line) => (JSON.parse(line) as { role: string }).role);
  assert.deepEqual(roles, ['user', 'call', 'assistant', 'end']);
});

test('a transcript is made piece by piece', async () => {
  const house = aHouse({ script: [{ text: 'Good day.' }] });
  await house.ask('Hello.');
  let timeline = emptyTimeline;
  for (const fact of await house.facts()) timeline = project(timeline, fact);
  let read = 0;
  const entries = (function* () {
    for (const entry of entriesOf(timeline)) {
      read++;
      yield entry;
    }
  })();
  const pieces = transcriptOf(about, entries, 'md');
  pieces.next();
  pieces.next();
  assert.equal(read, 1);
});
