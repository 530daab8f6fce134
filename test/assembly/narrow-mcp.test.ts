import assert from 'node:assert/strict';
import { test } from 'node:test';
import { narrow } from '../../src/assembly/narrow.ts';
import { readSelection } from '../../src/domain/selection.ts';
import { aGrant, aTool } from './grants.ts';

const remote = (own: string, group = 'kb') => {
  const tool = aTool(own.replace('.', '_'), { group, own, kind: 'mcp' });
  return { ...tool, definition: { ...tool.definition, remote: { server: 'knowledge', name: own } } };
};
const grant = aGrant([remote('kb.fetch'), remote('kb.search'), aTool('kb_list', { group: 'knowledge' })]);
const left = (disabled: object) =>
  narrow(grant, readSelection({ disabled }).selection).tools.map(({ definition }) => definition.name);

test('an MCP server is switched off whole or tool by tool, by the name that its server gives a tool', () => {
  assert.deepEqual(left({ mcp: { kb: true } }), ['kb_list']);
  assert.deepEqual(left({ mcp: { kb: ['kb.fetch'] } }), ['kb_search', 'kb_list']);
});

test("the server's id says the same as the name of its group", () => {
  assert.deepEqual(left({ mcp: { knowledge: ['kb.search'] } }), ['kb_fetch', 'kb_list']);
});

test('what is said of tools is not said of servers, and the other way round', () => {
  assert.deepEqual(left({ tools: { kb: true } }), ['kb_fetch', 'kb_search', 'kb_list']);
  assert.deepEqual(left({ tools: { knowledge: true } }), ['kb_fetch', 'kb_search']);
});
