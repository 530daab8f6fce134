import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instructions } from '../../src/assembly/instructions.ts';
import { decisionOf } from '../../src/domain/decision.ts';
import { parseJson } from '../../src/base/json.ts';
import { aTool } from './grants.ts';

const { definition } = aTool('add');

test('the text of an agent with native tools is its prompt and its teaching, and no more', () => {
  const text = instructions({
    grammar: 'native',
    systemPrompt: '\n  You add.  \r\n\r\n- Äpfel 🍎\r\n',
    additional: '[HOUSE STYLE]\nBe brief.\n\n',
    tools: [definition],
  });
  assert.equal(text, '  You add.  \n\n- Äpfel 🍎\n\n[HOUSE STYLE]\nBe brief.');
});

test('an agent that says nothing has an empty text', () => {
  assert.equal(instructions({ grammar: 'native', systemPrompt: ' \n', additional: '', tools: [] }), '');
});

test('half a character is replaced, so that the text can be sent', () => {
  const text = instructions({ grammar: 'native', systemPrompt: 'a\ud83d', additional: '', tools: [] });
  assert.equal(text, 'a\ufffd');
});

const golden = `You add.

# How you answer

Answer every time with exactly one JSON object and nothing around it: no other text, no code fence.

To use a tool:
{"type":"tool","tool":"<name of the tool>","arguments":{}}
\`arguments\` is an object that fits the tool's schema. The tool's result comes back as the next message.

To give your final answer:
{"type":"finish","answer":"<your answer>"}
\`answer\` is nonempty text. It ends your work on the message.

Use exactly these keys. One object is one decision: use one tool at a time.

# Tools

## add
Does add.
Schema of its arguments: {"properties":{"b":{"type":"number"}},"type":"object"}

## noop
Does noop.
Schema of its arguments: {"type":"object"}`;

test('a model without tool calls is told both objects and every tool', () => {
  const inputSchema = { type: 'object', properties: { b: { type: 'number' } } };
  const tools = [{ ...definition, inputSchema }, aTool('noop').definition];
  assert.equal(instructions({ grammar: 'json', systemPrompt: 'You add.', additional: '', tools }), golden);
});

test('the objects that the text shows are decisions', () => {
  const shown = golden.split('\n').filter((line) => line.startsWith('{"type"'));
  const decisions = shown.map((line) => decisionOf(parseJson(line, 'the text'), 't1-1-1').type);
  assert.deepEqual(decisions, ['actions', 'answer']);
});

test('a model without tools is told that there are none', () => {
  const text = instructions({ grammar: 'json', systemPrompt: '', additional: '', tools: [] });
  assert.match(text, /# Tools\n\nThere are none: give your final answer\.$/);
});
