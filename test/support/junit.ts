import { XMLParser } from 'fast-xml-parser';
import { isObject } from '../../src/base/json.ts';

type Element = Readonly<Record<string, unknown>>;

interface TestCase extends Element {
  readonly '@name': string;
  readonly failure?: Element;
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseAttributeValue: false,
  parseTagValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  isArray: (name) => name === 'testsuite' || name === 'testcase',
});

/** What the schema that Jenkins and others read by knows of an element: which attributes, of what kind, and what is in it. */
interface Shape {
  readonly needs: readonly string[];
  readonly may: Readonly<Record<string, 'text' | 'count' | 'seconds'>>;
  readonly holds: readonly string[];
}

const COUNTS = { tests: 'count', failures: 'count', errors: 'count', time: 'seconds' } as const;
const SHAPES: Readonly<Record<string, Shape>> = {
  testsuites: { needs: [], may: { name: 'text', disabled: 'count', ...COUNTS }, holds: ['testsuite'] },
  testsuite: {
    needs: ['name', 'tests'],
    may: {
      name: 'text',
      skipped: 'count',
      timestamp: 'text',
      hostname: 'text',
      id: 'text',
      package: 'text',
      ...COUNTS,
    },
    holds: ['properties', 'testcase', 'system-out', 'system-err'],
  },
  testcase: {
    needs: ['name', 'classname'],
    may: { name: 'text', classname: 'text', time: 'seconds', assertions: 'text', status: 'text' },
    holds: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
  },
  failure: { needs: [], may: { message: 'text', type: 'text' }, holds: [] },
};
const KINDS = { text: /^/, count: /^\d+$/, seconds: /^\d+(\.\d+)?$/ };

/** What is wrong with a report, by the schema of JUnit's reports; empty when nothing is. */
export function junitProblems(xml: string): readonly string[] {
  const { testsuites, ...others } = parser.parse(xml) as Element;
  const strays = Object.keys(others).filter((name) => !/^#text/.test(name));
  return [...strays.map((name) => `${name} at the top`), ...problemsOf('testsuites', testsuites)];
}

/** The only suite of a report. */
export function junitSuite(xml: string): Element & { readonly testcase: readonly [TestCase, ...TestCase[]] } {
  const { testsuites } = parser.parse(xml) as { testsuites: { testsuite: [ReturnType<typeof junitSuite>] } };
  return testsuites.testsuite[0];
}

function problemsOf(name: string, element: unknown): readonly string[] {
  const shape = SHAPES[name];
  if (shape === undefined || !isObject(element)) return [`${name} is no such element`];
  const missing = shape.needs.filter((one) => element[`@${one}`] === undefined).map((one) => `${name} without ${one}`);
  return [
    ...missing,
    ...Object.entries(element).flatMap(([key, value]): readonly string[] => {
      if (key === '#text') return name === 'failure' || String(value).trim() === '' ? [] : [`${name} with text`];
      if (!key.startsWith('@')) {
        if (!shape.holds.includes(key)) return [`${key} in ${name}`];
        return (Array.isArray(value) ? value : [value]).flatMap((one) => problemsOf(key, one));
      }
      const kind = shape.may[key.slice(1)];
      if (kind === undefined) return [`${name} with ${key}`];
      return KINDS[kind].test(String(value)) ? [] : [`${name} with ${key} ${String(value)}`];
    }),
  ];
}
