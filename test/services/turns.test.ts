// Services through every door: what the roster lists is what can be called, whoever asks and whatever a record says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { effectiveAgentOf } from '../../src/assembly/effective.ts';
import { narrow } from '../../src/assembly/narrow.ts';
import { readSelection } from '../../src/domain/selection.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { GrantedTool } from '../../src/domain/grant.ts';
import { createPlatform } from '../../src/platform/platform.ts';
import { aGrant, anyRecord, aTool, declaredAgent } from '../assembly/grants.ts';
import { aMeta, aTalk, effective, inFolder, load, noticesOf } from '../support/bundles.ts';

const operation = (namespace: string, own: string, more: Partial<GrantedTool> = {}): GrantedTool =>
  aTool(`${namespace}_${own.replaceAll('.', '_')}`, { group: namespace, own, kind: 'named_services', ...more });
const namespaces = ['task', 'note', 'constructor'];
const services = namespaces.map((namespace) => ({ namespace, label: namespace, description: `Holds ${namespace}.` }));
const grant = aGrant(
  [
    ...namespaces.flatMap((one) => [operation(one, 'read'), operation(one, 'write')]),
    aTool('tool_call', { group: 'io', locked: true }),
  ],
  { services },
);

test('whatever a record says, the roster lists exactly the services that have a tool, and no tool is new', () => {
  const record = fc.oneof(
    anyRecord,
    fc.record({
      disabled: fc.record({
        named_services: fc.dictionary(
          fc.constantFrom(...namespaces),
          fc.oneof(fc.constant(true), fc.subarray(['read', 'write', 'gone'])),
        ),
      }),
    }),
  );
  fc.assert(
    fc.property(record, (stored) => {
      const { selection } = readSelection(stored);
      const narrowed = narrow(grant, selection);
      const left = new Set(
        narrowed.tools.filter(({ kind }) => kind === 'named_services').map(({ definition }) => definition.group),
      );
      assert.deepEqual(
        narrowed.services.map(({ namespace }) => namespace),
        namespaces.filter((one) => left.has(one)),
      );
      assert.ok(narrowed.tools.every((tool) => grant.tools.includes(tool)));
      assert.ok(narrowed.tools.some(({ own }) => own === 'tool_call'));
      const { agent } = effectiveAgentOf(declaredAgent(grant), selection, {});
      for (const one of namespaces) assert.equal((agent.gallery ?? '').includes(`${one}_*`), left.has(one));
    }),
  );
});

test('what an account has today changes neither the roster nor the catalogue', () => {
  const needy = aGrant([operation('task', 'read', { needs: { provider: 'slack', claims: ['read'] } })], {
    services: services.slice(0, 1),
  });
  const [without, having] = [{}, { slack: ['read'] }].map(
    (held) => effectiveAgentOf(declaredAgent(needy), readSelection(undefined).selection, held).agent,
  );
  assert.deepEqual([without?.instructions, without?.gallery], [having?.instructions, having?.gallery]);
  assert.deepEqual(without?.listed, having?.tools);
  assert.deepEqual([without?.tools, without?.unmet], [[], [{ account: 'slack', tools: ['task_read'] }]]);
});

const board = `
globalThis.boardCalls = 0;
export const service = { operations: { 'object.get': { description: 'Reads.', input: { type: 'object' }, run: () => ++globalThis.boardCalls } } };
`;
const yaml = `
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - {name: io, kind: module, module: builtin/io}
          - {name: board, kind: named_service, namespaces: {task: {}}}
    named_services: {task: {kind: module, module: ./board.js}}
models: {balanced: {provider: scripted, script: script.json}}
`;

test('a call of a namespace that the user has switched off runs nothing, whatever the model says', async () => {
  const script = [{ actions: [{ name: 'task_object_get', arguments: {} }] }, { text: 'Done.' }];
  await inFolder(yaml, { 'board.js': board, 'script.json': JSON.stringify(script) }, async (file) => {
    const log = createMemoryLog({ clock: systemClock });
    const off = { disabled: { named_services: { task: true } } };
    const selections = { readSelection: () => ({ value: off, revision: 1 }), writeSelection: () => false };
    const platform = await createPlatform({ bundle: file, environment: {}, log, selections });
    const { id } = await platform.conversations.start();
    await platform.conversations.say(id, { text: 'hi' });
    await platform.conversations.drive(id);
    const result = log.read(id, 0, 100).find(({ type }) => type === 'tool.result')?.payload;
    await platform.close();
    assert.match(JSON.stringify(result), /not_allowed.*switched off by the user/);
    assert.equal(Reflect.get(globalThis, 'boardCalls'), 0);
  });
});

test('a store of accounts that hangs gives no rights: the operation is inactive, and says so', async () => {
  const needy = yaml.replace('{task: {}}', "{task: {tool_claims: {'*': {provider: slack, claims: [read]}}}}");
  const impatient: Clock = { ...systemClock, after: (_, work) => (queueMicrotask(work), () => undefined) };
  const bundle = await load(needy, { 'board.js': board, 'script.json': '[{"text":"x"}]' }, { clock: impatient });
  const hangs = { claims: () => new Promise<never>(() => undefined) };
  const { agent } = await bundle.agentSource(undefined, hangs).assemble(aMeta('main'), aTalk());
  assert.deepEqual(agent.inactive, [{ name: 'task_object_get', why: 'needs a connected slack account' }]);
  assert.match(
    noticesOf(bundle).join('\n'),
    /task_object_get needs the account slack, which accounts does not declare/,
  );
});

test('a bundle with two agents, three groups, a server, a service, a skill and two models loads', async () => {
  const whole = `
id: workspace@1
config:
  react:
    default_agent:
      max_iterations: 15
      claim_policy: ask
      supported_models:
        - {provider: anthropic, model: claude-sonnet-4-6, label: Sonnet 4.6}
        - {provider: anthropic, model: claude-haiku-4-5-20251001, label: Haiku 4.5}
  surfaces:
    as_consumer:
      default_agent: main
      agents:
        default_agent:
          tools:
            - {name: io, kind: module, module: builtin/io, alias: io_tools, allowed: [tool_call]}
            - {name: time, kind: module, module: builtin/time, allowed: [time_now]}
            - {name: math, kind: module, module: builtin/math, tool_claims: {calculate: {provider: slack, claims: ["chat:write"]}}}
            - {name: knowledge, kind: mcp, server_id: knowledge, allowed: [kb_search, kb_fetch]}
            - {name: task, kind: named_service, namespaces: {task: {allowed: [object.get]}}}
          skills: {custom_root: skills, consumers: {}}
        main: {}
        other: {}
      mcp: {services: {knowledge: {transport: http, url: "\${KB_URL}", auth: {type: bearer, token: "\${KB_TOKEN}"}}}}
      named_services: {task: {kind: module, module: ./board.js}}
accounts: {slack: {type: oauth2, issuer: 'https://slack.example', client_id: "\${SLACK_ID}"}}
models:
  default: balanced
  balanced: [{provider: anthropic, model: claude-sonnet-4-6}, {provider: openai, model: gpt-5.2}]
`;
  const skill = '---\nname: notes\ndescription: Keeps notes.\n---\nWrite them down.\n';
  const environment = { KB_URL: 'http://127.0.0.1:9/', KB_TOKEN: 't', SLACK_ID: 'app' };
  const bundle = await load(whole, { 'board.js': board, 'skills/notes/SKILL.md': skill }, { environment });
  for (const name of ['main', 'other']) {
    const agent = await effective(bundle, name);
    assert.deepEqual(
      agent.tools.map((tool) => tool.name),
      ['calculate', 'skills_load', 'skills_read', 'task_object_get', 'time_now', 'tool_call'],
    );
    assert.deepEqual(agent.unmet, [{ account: 'slack', tools: ['calculate'] }]);
    assert.match(agent.gallery ?? '', /# Skills.*# Services.*task_\*/s);
  }
  await bundle.close();
});
