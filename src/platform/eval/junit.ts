import XMLBuilder from 'fast-xml-builder';
import type { CaseReport, SuiteReport } from './run-suite.ts';

/** What the library writes as it is: `@` before the names of attributes, `#text` for what stands between the tags. */
const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  format: true,
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
});

/** A report as JUnit XML, which servers of continuous integration read: a test case for each case of the suite. */
export function junitOf({ suite, cases, totals }: SuiteReport): string {
  const counts = { '@tests': totals.cases, '@failures': totals.failed, '@errors': 0, '@time': seconds(totals.ms) };
  return builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      '@name': 'treadle eval',
      ...counts,
      testsuite: { '@name': writable(suite), ...counts, testcase: cases.map((one) => testCase(one, suite)) },
    },
  });
}

function testCase({ name, passed, passRate, interval, attempts }: CaseReport, suite: string): object {
  const ms = attempts.reduce((sum, one) => sum + one.ms, 0);
  const about = { '@name': writable(name), '@classname': writable(suite), '@time': seconds(ms) };
  if (passed) return about;
  const [low, high] = interval;
  const rate = `${percent(passRate)} of ${attempts.length} passed (95 %: ${percent(low)} to ${percent(high)})`;
  const failures = [...new Set(attempts.flatMap((one) => one.failures))];
  const said = writable([rate, ...failures].join('\n'));
  const message = writable(failures[0] ?? rate).replaceAll('\n', ' '); // in an attribute, a reader makes spaces of them
  return { ...about, failure: { '@message': message, '@type': 'expectation', '#text': said } };
}

/** XML 1.0 has no way to write most control characters, whatever stands in their place. */
function writable(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}
