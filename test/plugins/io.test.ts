import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conversation } from '../../src/domain/conversation.ts';
import { ioGroup } from '../../src/plugins/tools/io.ts';
import { aHouse, aTool, anAgent } from '../support/house.ts';
import { aContext, runTool } from '../support/tool-context.ts';

const mail = aTool('mail', () => 'sent', { effect: 'once', approval: 'ask', description: 'Sends a mail.' });

function conversation(): Conversation {
  const agent = anAgent([mail], {}, { inactive: [{ name: 'slack', why: 'no account is connected' }] });
  return { ...aContext().conversation, agent };
}

test('tool_call says what a call takes and what it will meet', async () => {
  assert.deepEqual(await runTool(ioGroup, 'tool_call', { name: 'mail' }, { conversation: conversation() }), {
    name: 'mail',
    description: 'Sends a mail.',
    input_schema: { type: 'object' },
    asks_a_person_first: true,
    changes_something: true,
  });
});

test('B122 a tool that is off or unknown is told apart, with a reason or the names there are', async () => {
  const off = await runTool(ioGroup, 'tool_call', { name: 'slack' }, { conversation: conversation() });
  assert.deepEqual(off, {
    kind: 'failure',
    code: 'inactive',
    message: 'slack is off for this turn: no account is connected',
  });
  const unknown = await runTool(ioGroup, 'tool_call', { name: 'constructor' }, { conversation: conversation() });
  assert.deepEqual(unknown, {
    kind: 'failure',
    code: 'not_allowed',
    message: 'There is no tool named "constructor". Your tools: mail',
  });
});

test('a model that tries to call through tool_call runs nothing and is told what to do', async () => {
  let ran = 0;
  const spec = ioGroup.tools[0]!;
  const house = aHouse({
    tools: [
      aTool('mail', () => ++ran, { effect: 'once' }),
      aTool('tool_call', (args, context) => spec.run(args, context)),
    ],
    script: [
      { actions: [{ name: 'tool_call', arguments: { name: 'mail', arguments: { to: 'Bo' } } }] },
      { text: '{{last.error.message}}' },
    ],
  });
  const { turns } = await house.ask('mail Bo');
  assert.equal(ran, 0);
  assert.equal(turns.at(-1)?.output, 'Nothing was called. Call mail itself, with these arguments.');
});
