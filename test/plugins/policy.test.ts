import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchesGlob } from '../../src/base/glob.ts';
import type { Json } from '../../src/base/json.ts';
import { openRequests } from '../../src/domain/conversation.ts';
import { systemClock } from '../../src/base/clock.ts';
import { install, type InstallOptions } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { approvalPolicy } from '../../src/plugins/gates/approval-policy.ts';
import { at, isAbout, type PolicyRule } from '../../src/plugins/gates/policy-rule.ts';
import { BundleError } from '../../src/platform/bundle/problems.ts';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { inFolder, loadOptions } from '../support/bundles.ts';
import { aHouse, aTool, type House } from '../support/house.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const tool = aTool('mail_send', () => 1, { effect: 'once' }).definition;
const about = (rule: Omit<PolicyRule, 'then'> & { readonly then?: PolicyRule['then'] }, given: Json): boolean =>
  isAbout({ then: 'ask', ...rule }, { tool, arguments: given });

test('a glob stands for the whole text, and a literal one for itself alone', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      const literal = text.replace(/[*?\\]/g, '\\$&');
      assert.equal(matchesGlob(literal, text), true);
      assert.equal(matchesGlob(literal, other), text === other);
      assert.equal(matchesGlob('*', text), true);
      assert.equal(matchesGlob(`*${literal}*`, other + text + other), true);
      assert.equal(matchesGlob('?'.repeat(text.length), text), true);
    }),
  );
  assert.deepEqual(
    [matchesGlob('a*b*c', 'a-b-b-c'), matchesGlob('a*b', 'ab-'), matchesGlob('', ''), matchesGlob('?', '')],
    [true, false, true, false],
  );
});

test('a glob made to take long does not', () => {
  const pattern = `${'*a'.repeat(200)}b`;
  assert.equal(matchesGlob(pattern, 'a'.repeat(20_000)), false);
});

test('arguments are compared as what they are: a number is no text, and what is inherited is not there', () => {
  assert.deepEqual(
    [
      about({ when: { n: 1 } }, { n: 1 }),
      about({ when: { n: 1 } }, { n: '1' }),
      about({ when: { n: '1' } }, { n: 1 }),
      about({ when: { constructor: { present: true } } }, {}),
      about({ when: { 'to.name': 'bo' } }, { to: { name: 'bo' } }),
      about({ when: { 'items.1': 'b' } }, { items: ['a', 'b'] }),
      about({ when: { n: { over: 5, under: 9 } } }, { n: 9 }),
      about({ when: { n: { over: 5 } } }, { n: '6' }),
      about({ when: { n: null } }, { n: null }),
      about({ when: { n: null } }, {}),
      about({ when: { n: { present: false } } }, {}),
      about({ when: { n: { one_of: [1, 2] } } }, { n: 2 }),
      about({ effect: 'read' }, {}),
      about({ tool: 'mail_*', effect: 'once' }, {}),
    ],
    [true, false, false, false, true, true, false, false, true, false, true, true, false, true],
  );
  assert.equal(at({ a: [1] }, 'a.length'), undefined);
});

test('of a list every item has to fit an exception, and one that fits is enough to ask or to refuse', () => {
  const rule = { when: { to: { glob: '*@here' } } };
  const mixed = { to: ['bo@here', 'eve@there'] };
  assert.deepEqual(
    [
      about({ ...rule, then: 'allow' }, mixed),
      about({ ...rule, then: 'deny' }, mixed),
      about({ ...rule, then: 'allow' }, { to: [] }),
      about({ ...rule, then: 'allow' }, { to: ['bo@here'] }),
    ],
    [false, true, false, true],
  );
});

function desk(
  config: unknown,
  calls: readonly object[],
  { sent = [], ...host }: { sent?: unknown[] } & Pick<InstallOptions, 'spending'> = {},
): House {
  return aHouse({
    tools: [aTool('mail', (args) => sent.push(args), { effect: 'once' })],
    script: [...calls.map((given) => ({ actions: [{ name: 'mail', arguments: given as never }] })), { text: 'done' }],
    plugins: (bus) => void install(approvalPolicy, config, { bus, clock: systemClock, logger, ...host }),
  });
}

test('the first rule that is about an action decides', async () => {
  const sent: unknown[] = [];
  const rules = [
    { when: { to: 'bo' }, then: 'allow' },
    { tool: 'mail', then: 'deny', reason: 'Nobody but Bo.' },
  ];
  const { turns } = await desk({ rules }, [{ to: 'bo' }, { to: 'cy' }], { sent }).ask('go');
  const [, second] = [...(turns.at(-1)?.iterations ?? [])];
  assert.deepEqual([sent, second?.actions[0]?.observation?.error?.message], [[{ to: 'bo' }], 'Nobody but Bo.']);
});

test('what no rule is about is allowed, unless the policy says otherwise', async () => {
  const sent: unknown[] = [];
  const rules = [{ tool: 'other', then: 'deny' }];
  await desk({ rules }, [{ to: 'bo' }], { sent }).ask('go');
  await desk({ rules, otherwise: 'deny' }, [{ to: 'cy' }], { sent }).ask('go');
  assert.deepEqual(sent, [{ to: 'bo' }]);
});

async function answer(house: House, given: object): Promise<void> {
  const { turn } = await house.fold();
  const [open] = turn === undefined ? [] : openRequests(turn);
  const request = open?.request ?? '';
  await house.post({ type: 'hitl.responded', payload: { request, by: 'ana', ...given } as never, key: request });
  await house.drive();
}

test('what a person edits is judged by the rules again', async () => {
  const sent: unknown[] = [];
  const rules = [
    { when: { to: 'eve' }, then: 'deny' },
    { tool: 'mail', then: 'ask' },
  ];
  const house = desk({ rules }, [{ to: 'bo' }], { sent });
  await house.ask('go');
  await answer(house, { decision: 'edit', arguments: { to: 'eve' } });
  assert.deepEqual(sent, []);
});

test('a yes that is bound to an argument is a yes to that one, whatever else is in the action', async () => {
  const sent: unknown[] = [];
  const rules = [{ tool: 'mail', then: 'ask', remember_by: ['to'] }];
  const calls = [
    { to: 'bo', text: 'a' },
    { to: 'bo', text: 'b' },
    { to: 'cy', text: 'c' },
  ];
  const house = desk({ rules }, calls, { sent });
  await house.ask('go');
  await answer(house, { decision: 'allow', allow: 'conversation' });
  const { turn, allowances } = await house.fold();
  assert.equal(sent.length, 2);
  assert.deepEqual(turn && openRequests(turn)[0]?.arguments, { to: 'cy', text: 'c' });
  assert.equal(allowances[0]?.about, 'every run of mail with to "bo"');
});

test('a cost that is over, or that nobody knows, is over', async () => {
  const rules = [{ tool: 'mail', cost_over: 0.5, then: 'deny' }];
  const ran: boolean[] = [];
  for (const cost of ['0.4', '0.6', undefined]) {
    const sent: unknown[] = [];
    const spending = { of: () => ({ tokens: 0, money: '0' }), costOf: () => Promise.resolve(cost) };
    await desk({ rules }, [{ to: 'bo' }], { sent, spending }).ask('go');
    ran.push(sent.length === 1);
  }
  assert.deepEqual(ran, [true, false, false]);
});

const bundle = (plugins: string): string => `
id: post
plugins: ${plugins}
surfaces:
  as_consumer:
    agents:
      main: { tools: [{ name: math, kind: module, module: builtin/math }] }
models: { balanced: { provider: scripted, model: scripted } }
`;

async function told(plugins: string, environment = {}): Promise<string> {
  return inFolder(bundle(plugins), {}, async (file) => {
    try {
      return (await loadBundle(file, { ...loadOptions, environment })).notices
        .map(({ place, text }) => `${place}: ${text}`)
        .join('\n');
    } catch (error) {
      if (error instanceof BundleError) return error.message;
      throw error;
    }
  });
}

test('a rule that is never reached, a key that nothing reads and a tool that is not there are told where they stand', async () => {
  const policy = (rules: string): string =>
    `{ active: [gate.approval_policy], gate.approval_policy: { rules: [${rules}] } }`;
  assert.match(await told(policy('{ then: ask }, { tool: calculate, then: allow }')), /rules\[1\].*never reached/);
  assert.match(await told(policy('{ tool: calculate, than: allow, then: ask }')), /than/);
  assert.match(
    await told(policy('{ tool: calculat, then: ask }')),
    /gate\.approval_policy"\]: "calculat" is the name of no tool of this bundle; did you mean calculate/,
  );
  assert.match(await told(policy("{ tool: 'mail_*', then: ask }")), /"mail_\*" is the name of no tool/);
  assert.match(await told(policy("{ tool: '${MINE}', then: ask }"), { MINE: 'hush_1' }), /"\$\{MINE\}" is the name/);
  assert.equal(await told(policy("{ tool: 'calc*', then: ask }")), '');
});
