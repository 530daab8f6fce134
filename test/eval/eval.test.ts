import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { TreadleError } from '../../src/base/errors.ts';
import { SyntaxValidator } from 'fast-xml-validator';
import { junitOf } from '../../src/platform/eval/junit.ts';
import { junitProblems, junitSuite } from '../support/junit.ts';
import { mismatch } from '../../src/platform/eval/matching.ts';
import { runSuite, type SuiteReport } from '../../src/platform/eval/run-suite.ts';
import { confidence } from '../../src/platform/eval/statistics.ts';
import { readSuite } from '../../src/platform/eval/suite.ts';
import { temporaryFolder } from '../stores/temporary.ts';

const BUNDLE = `
id: sums
config: { react: { main: { max_iterations: 4 } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: math, kind: module, module: builtin/math }
          - { name: pay, kind: module, module: ./pay.tool.js, tool_traits: { pay: { approval: ask } } }
models: { balanced: { provider: scripted, script: ./none.json } }
`;
const TOOL = `export const pay = { name: 'pay', description: 'Pays.', effect: 'once',
  input: { type: 'object', properties: { to: { type: 'string' } } }, run: () => { throw new Error('really ran'); } };`;

async function ran(t: TestContext, cases: string): Promise<SuiteReport> {
  const folder = temporaryFolder(t);
  writeFileSync(path.join(folder, 'sums.yaml'), BUNDLE);
  writeFileSync(path.join(folder, 'pay.tool.js'), TOOL);
  writeFileSync(path.join(folder, 'none.json'), '[{"text":"nothing"}]');
  const file = path.join(folder, 'suite.yaml');
  return runSuite({ suite: readSuite(`bundle: sums.yaml\n${cases}`, file), file, environment: {} });
}

async function failures(t: TestContext, expect: string, more = ''): Promise<readonly string[]> {
  const report = await ran(
    t,
    `cases:
  - name: one
    input: Pay Bo.
    approvals: allow
    ${more}
    stubs: { pay: { returns: { paid: 5 } } }
    model: { replies: [{ actions: [{ name: pay, arguments: { to: Bo } }] }, { text: 'Paid 5 to Bo.' }] }
    expect: ${expect}`,
  );
  return report.cases[0]?.attempts[0]?.failures ?? [];
}

test('a case holds where everything is as expected', async (t) => {
  const expect =
    '{ called: [{ tool: pay, with: { to: Bo }, times: 1, outcome: ok }], never_called: [calculate], order: [pay], answer: paid 5, max: { iterations: 2, actions: 1 } }';
  assert.deepEqual(await failures(t, expect), []);
});

for (const [expect, failure] of [
  ['{ called: [calculate] }', 'calculate was not called.'],
  [
    '{ called: [{ tool: pay, with: { to: Cy } }] }',
    'pay was called as wanted 0 times; otherwise to is "Bo", not "Cy".',
  ],
  ['{ never_called: [pay] }', 'pay was called, once.'],
  ['{ order: [calculate, pay] }', 'The order was pay, not calculate, pay.'],
  ['{ answer: nothing }', 'The answer has no "nothing": Paid 5 to Bo.'],
  ['{ answer: { matches: "^Bo" } }', 'The answer does not match ^Bo: Paid 5 to Bo.'],
  ['{ answer: { not_contains: bo } }', 'The answer has "bo": Paid 5 to Bo.'],
  ['{ max: { iterations: 1 } }', 'Model calls: 2, more than 1.'],
  ['{ max: { cost: 1 } }', ''],
  ['{ status: stopped }', 'It ended completed, not stopped.'],
] as const)
  test(`${expect} of a run that is otherwise fails as: ${failure || 'nothing'}`, async (t) => {
    assert.deepEqual(await failures(t, expect), failure === '' ? [] : [failure]);
  });

test('a tool without a stub runs only where it reads, or where the suite says so', async (t) => {
  const report = await ran(
    t,
    `cases:
  - name: one
    input: Pay Bo.
    approvals: allow
    model: { replies: [{ actions: [{ name: pay, arguments: {} }] }, { text: done }] }
    expect: { called: [{ tool: pay, outcome: failed }] }`,
  );
  assert.equal(report.passed, true);
});

test('where a person is asked and the case says nothing, the answer is no', async (t) => {
  const report = await ran(
    t,
    `stubs: { pay: { returns: 1 } }
cases:
  - name: one
    input: Pay Bo.
    model: { replies: [{ actions: [{ name: pay, arguments: {} }] }, { text: no }] }
    expect: { called: [{ tool: pay, outcome: refused }] }`,
  );
  assert.equal(report.passed, true);
});

test('an answer is JSON of a schema, and a model judges it', async (t) => {
  const report = await ran(
    t,
    `judge: { replies: [{ text: '{"pass": false, "why": "it is rude"}' }] }
cases:
  - name: one
    input: Go.
    model: { replies: [{ text: '{"n": "x"}' }] }
    expect:
      answer: { schema: { type: object, properties: { n: { type: number } } }, judge: Is it polite? }`,
  );
  const [schema = '', judge = ''] = report.cases[0]?.attempts[0]?.failures ?? [];
  assert.match(schema, /does not fit its schema: .*n/);
  assert.equal(judge, 'The judge says no: it is rude');
});

test('repeats are counted, with an interval around their rate', async (t) => {
  const report = await ran(
    t,
    `repeats: 5
cases: [{ name: one, input: Go., model: { replies: [{ text: yes }] }, expect: { answer: yes } }]`,
  );
  assert.deepEqual([report.totals.attempts, report.cases[0]?.passRate], [5, 1]);
  assert.deepEqual(
    confidence(5, 5).map((bound) => bound.toFixed(3)),
    ['0.566', '1.000'],
  );
  assert.deepEqual(confidence(0, 0), [0, 1]);
});

test('a mistake in a suite is told with its line', () => {
  const wrong = 'bundle: a.yaml\ncases:\n  - name: one\n    input: x\n    expect: { caled: [pay] }\n';
  assert.throws(
    () => readSuite(wrong, 'suite.yaml'),
    (error) => TreadleError.is(error) && error.code === 'suite_invalid' && /suite\.yaml:5:15/.test(error.message),
  );
});

test('patterns are partial in objects, whole in lists, and have operators', () => {
  assert.equal(mismatch({ a: 1 }, { a: 1, b: 2 }), undefined);
  assert.equal(mismatch([1], [1, 2]), 'it is [1,2], not [1]');
  assert.equal(mismatch({ a: { $gt: 3 } }, { a: 4 }), undefined);
  assert.equal(mismatch({ a: { $not: 4 } }, { a: 4 }), 'a is 4, which is against $not 4');
  assert.equal(mismatch({ a: { $contains: { b: 1 } } }, { a: [{ b: 1, c: 2 }] }), undefined);
  assert.match(mismatch({ a: { $what: 1 } }, { a: 1 }) ?? '', /no operator/);
});

test('a report as JUnit XML is well-formed whatever was said', async (t) => {
  const report = await ran(
    t,
    `cases: [{ name: "a < b & \\"c\\" \\u0007", input: Go., model: { replies: [{ text: "]]> <x>" }] }, expect: { answer: none } }]`,
  );
  const xml = junitOf(report);
  assert.equal(new SyntaxValidator().validate(xml), true);
  assert.deepEqual(junitProblems(xml), []);
  const { testcase } = junitSuite(xml);
  assert.equal(testcase[0]['@name'], 'a < b & "c" \ufffd');
  assert.match(String(testcase[0].failure?.['#text']), /]]> <x>/);
});

test('a report as JUnit XML has what its readers want, for cases that hold and cases that do not', async (t) => {
  const said = (text: string) => `model: { replies: [{ text: ${text} }] }, expect: { answer: yes it is }`;
  const report = await ran(
    t,
    `cases: [{ name: good, input: Go., ${said('yes it is')} }, { name: bad, input: Go., ${said('no')} }]`,
  );
  const xml = junitOf(report);
  assert.deepEqual(junitProblems(xml), []);
  const { testcase, ...suite } = junitSuite(xml);
  assert.deepEqual([suite['@tests'], suite['@failures'], suite['@errors']], ['2', '1', '0']);
  assert.deepEqual(
    testcase.map((one) => [one['@name'], one.failure !== undefined]),
    [
      ['good', false],
      ['bad', true],
    ],
  );
});

test('the suite that ships holds', async () => {
  const file = path.join(import.meta.dirname, '../../agents/evals/desk.yaml');
  const report = await runSuite({ suite: readSuite(readFileSync(file, 'utf8'), file), file, environment: {} });
  assert.deepEqual(
    report.cases.flatMap(({ name, attempts }) =>
      attempts.flatMap((one) => one.failures.map((why) => `${name}: ${why}`)),
    ),
    [],
  );
});
