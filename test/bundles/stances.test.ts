// What a bundle alone tells of the runs of its tools: who asks, who refuses, of which runs, and where that stands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { approvalPolicy } from '../../src/plugins/gates/approval-policy.ts';
import { isAbout } from '../../src/plugins/gates/policy-rule.ts';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { alwaysAsks, toolStances, type ToolStance } from '../../src/platform/grant/tool-stances.ts';
import { inFolder, loadOptions } from '../support/bundles.ts';
import { aTool } from '../support/house.ts';

const bundle = (plugins: string, more = ''): string => `
id: app@1
surfaces:
  as_consumer:
    agents:
      main: { tools: [{ name: math, kind: module, module: builtin/math${more} }] }
models: { balanced: { provider: scripted, model: scripted } }
plugins: { active: [gate.approval_policy, gate.tool_filter], ${plugins} }
`;
const ALL = 'gate.approval_policy: { rules: [{ tool: calculate, then: allow }] }';

/** What is told of `calculate`. */
async function ofCalculate(plugins: string, more = '', environment = {}): Promise<readonly ToolStance[]> {
  return inFolder(bundle(plugins, more), {}, async (file) => {
    const loaded = await loadBundle(file, { ...loadOptions, environment });
    const agent = loaded.agent('main');
    const [tool] = agent.grant.tools;
    assert.ok(tool !== undefined);
    return toolStances({ loaded, known: allPlugins }, agent, tool);
  });
}

const policy = (rules: string, more = ''): string => `gate.approval_policy: { rules: [${rules}]${more} }`;
const inShort = (stances: readonly ToolStance[]): string =>
  stances.map(({ then, when }) => (when === undefined ? then : `${then} when ${when}`)).join(', ');

const CASES: readonly (readonly [rules: string, more: string, told: string])[] = [
  ['{ tool: calculate, then: ask }', '', 'ask'],
  ['{ tool: other_*, then: deny }', '', ''],
  ['{ effect: once, then: deny }, { then: allow }', '', ''],
  ['{ tool: "calc*", when: { n: { over: 5 } }, then: deny }, { then: ask }', '', 'deny when n is over 5, ask'],
  ['{ tool: "calc*", then: ask }, { tool: calculate, then: deny }', '', 'ask'],
  [
    '{ when: { to: bo }, then: allow }, { cost_over: 2, then: ask }',
    '',
    'allow when to is "bo", ask when the run has cost more than $2',
  ],
  [
    '{ when: { to: { glob: "*@x" }, n: { under: 2 } }, then: ask }',
    ', otherwise: deny',
    'ask when to is like *@x and n is under 2, deny',
  ],
  ['{ when: { n: { one_of: [1, 2] } }, then: ask }, { then: allow }', '', 'ask when n is one of 1, 2'],
];
for (const [rules, more, told] of CASES)
  test(`of the rules ${rules}${more} it is told: ${told === '' ? 'nothing' : told}`, async () => {
    assert.equal(inShort(await ofCalculate(policy(rules, more))), told);
  });

test('each of them has its reason and its line in the bundle', async () => {
  const [one] = await ofCalculate(policy('{ tool: other, then: allow }, { then: ask, reason: Sums are looked at. }'));
  assert.equal(one?.why, 'Sums are looked at.');
  assert.match(one.from ?? '', /app\.yaml:8:\d+ +plugins\["gate\.approval_policy"\]\.rules\[1\]/);
});

test('a variable in a rule is told by its name, wherever it stands', async () => {
  const environment = { CALC: 'calculate', WHO: 'bo', OURS: '*@secret.example', CODE: '7', TEAM: 'the lab' };
  const rules = `{ tool: "\${CALC}", when: { to: "\${WHO}", cc: { glob: "\${OURS}" }, n: { one_of: ["\${CODE}", 8] } },
    then: deny, reason: "Ask \${TEAM}." }`;
  const [one] = await ofCalculate(policy(rules), '', environment);
  assert.deepEqual(
    [one?.when, one?.why],
    ['to is "${WHO}" and cc is like ${OURS} and n is one of "${CODE}", 8', 'Ask ${TEAM}.'],
  );
});

test('what the filter refuses is told with the pattern that does it', async () => {
  const [one] = await ofCalculate(`${ALL}, gate.tool_filter: { deny: [other, 'calc*'] }`);
  assert.deepEqual([one?.by, one?.then], ['gate.tool_filter', 'deny']);
  assert.match(one?.from ?? '', /deny\[1\]/);
  assert.equal(inShort(await ofCalculate(`${ALL}, gate.tool_filter: { allow: [other] }`)), 'deny');
  assert.equal(inShort(await ofCalculate(`${ALL}, gate.tool_filter: { allow: ['*'] }`)), '');
});

test('a trait that asks is told with its line, and is asking always', async () => {
  const stances = await ofCalculate(ALL, ', tool_traits: { calculate: { approval: ask } }');
  assert.deepEqual([inShort(stances), alwaysAsks(stances)], ['ask', true]);
  assert.match(stances[0]?.from ?? '', /app\.yaml:6:\d+ .*tool_traits\.calculate\.approval/);
});

test('what asks about some runs only, or only after an exception, is not asking always', async () => {
  assert.equal(alwaysAsks(await ofCalculate(policy('{ when: { n: 1 }, then: ask }'))), false);
  assert.equal(alwaysAsks(await ofCalculate(policy('{ when: { n: 1 }, then: allow }, { then: ask }'))), false);
});

test('whatever the rules are, the first stance that is about a run says what the policy does about it', () => {
  const rule = fc.record(
    {
      tool: fc.constantFrom('mail', 'm*', '*', 'other'),
      when: fc.constantFrom({ n: 1 }, { n: { over: 1 } }, { n: { present: false } }),
      effect: fc.constantFrom('once' as const, 'read' as const),
      then: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
    },
    { requiredKeys: ['then'] },
  );
  const tool = aTool('mail', () => 1, { effect: 'once' }).definition;
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
      fc.constantFrom({}, { n: 1 }, { n: 2 }),
      (rules, otherwise, given) => {
        const isAboutRun = (place: number): boolean => {
          const found = rules[place];
          return found !== undefined && isAbout(found, { tool, arguments: given });
        };
        const does = rules.find((_, place) => isAboutRun(place))?.then ?? otherwise;
        const said = approvalPolicy.stances?.({ rules, otherwise }, tool, (_, text) => text) ?? [];
        const first = said.find(({ at: [key, place] }) => key === 'otherwise' || isAboutRun(Number(place)));
        assert.equal(first?.then ?? 'allow', does);
      },
    ),
  );
});
