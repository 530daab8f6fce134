import type { CaseReport, SuiteReport } from './run-suite.ts';

/** A report as JUnit XML, which servers of continuous integration read: a test case for each case of the suite. */
export function junitOf({ suite, cases, totals }: SuiteReport): string {
  const counts = attributes({ tests: totals.cases, failures: totals.failed, errors: 0, time: seconds(totals.ms) });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="treadle eval"${counts}>`,
    `  <testsuite${attributes({ name: suite })}${counts}>`,
    ...cases.map((one) => testCase(one, suite)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ name, passed, passRate, interval, attempts }: CaseReport, suite: string): string {
  const ms = attempts.reduce((sum, one) => sum + one.ms, 0);
  const opened = `    <testcase${attributes({ name, classname: suite, time: seconds(ms) })}`;
  if (passed) return `${opened}/>`;
  const [low, high] = interval;
  const rate = `${percent(passRate)} of ${attempts.length} passed (95 %: ${percent(low)} to ${percent(high)})`;
  const failures = [...new Set(attempts.flatMap((one) => one.failures))];
  const said = escaped([rate, ...failures].join('\n'));
  return `${opened}>\n      <failure${attributes({ message: failures[0] ?? rate })}>${said}</failure>\n    </testcase>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replaceAll('\n', '&#10;')}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** XML 1.0 has no way to write most control characters, whatever stands in their place. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}
