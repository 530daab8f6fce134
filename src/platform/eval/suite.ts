import { z } from 'zod';
import { TreadleError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import { json } from '../../domain/content.ts';
import { END_STATUSES } from '../../domain/status.ts';
import { OUTCOMES } from '../../domain/tool.ts';
import { scriptSchemas } from '../../adapters/models/script.ts';
import { misfits } from '../../adapters/schema/wording.ts';
import { oneOf, Problems } from '../bundle/problems.ts';
import { readYaml } from '../bundle/yaml.ts';

const about = (text: string): { readonly description: string } => ({ description: text });

const stub = z
  .strictObject({
    with: json.optional().meta(about('The arguments that this is for, as under `called`. Absent: any.')),
    returns: json.optional().meta(about('What the tool gives.')),
    fails: z
      .strictObject({ code: z.string().optional(), message: z.string() })
      .optional()
      .meta(about('The tool fails, and this is why.')),
  })
  .refine((one) => (one.returns === undefined) !== (one.fails === undefined), 'either `returns` or `fails`');
export type Stub = z.infer<typeof stub>;

const stubs = z
  .record(z.string(), z.union([stub, z.array(stub).min(1)]))
  .meta(
    about('What tools give instead of being run: one answer, or several, of which each call takes the next that fits.'),
  );

const model = z.union([
  z.strictObject({ replies: z.array(scriptSchemas.reply).min(1).meta(about('What the model says, call by call.')) }),
  z.strictObject({ script: z.string().min(1).meta(about('A script for the scripted model, beside the suite.')) }),
]);

const amount = z.union([
  z.int().min(0),
  z.strictObject({ min: z.int().min(0).optional(), max: z.int().min(0).optional() }),
]);

const called = z.union([
  z.string().min(1),
  z.strictObject({
    tool: z.string().min(1),
    with: json
      .optional()
      .meta(
        about(
          'Arguments, in part: keys that are not named may be anything. `{$contains}`, `{$matches}`, `{$any: true}`, `{$gt}`, `{$gte}`, `{$lt}`, `{$lte}` and `{$not}` stand for values.',
        ),
      ),
    times: amount.optional().meta(about('How often, exactly or within bounds. Absent: at least once.')),
    outcome: z.enum(OUTCOMES).optional().meta(about('How it came out.')),
  }),
]);
export type Called = z.infer<typeof called>;

const answer = z.union([
  z.string().min(1).meta(about('The answer has this in it, in any case.')),
  z.strictObject({
    contains: z.union([z.string(), z.array(z.string())]).optional(),
    not_contains: z.union([z.string(), z.array(z.string())]).optional(),
    equals: z.string().optional(),
    matches: z.string().optional().meta(about('A regular expression.')),
    schema: json.optional().meta(about('The answer is JSON of this JSON Schema.')),
    judge: z
      .string()
      .min(1)
      .optional()
      .meta(about('What a model is asked about the answer: it says yes or no, and why.')),
  }),
]);

const max = z.strictObject({
  iterations: z.int().min(0).optional().meta(about('Model calls of the whole case.')),
  actions: z.int().min(0).optional(),
  tokens: z.int().min(0).optional(),
  cost: z.number().min(0).optional().meta(about('US dollars. A cost that nobody knows is over it.')),
});

const expect = z.strictObject({
  status: z
    .enum([...END_STATUSES, 'waiting'])
    .optional()
    .meta(about('How the last turn ends. `completed` when absent.')),
  called: z.array(called).optional(),
  never_called: z.array(z.string().min(1)).optional().meta(about('Tools that the model does not even ask for.')),
  order: z.array(z.string().min(1)).optional().meta(about('Tools, in the order in which they are first asked for.')),
  answer: answer.optional(),
  max: max.optional(),
});
export type Expectation = z.infer<typeof expect>;

const settings = {
  agent: z.string().min(1).optional().meta(about('The agent of the bundle; its default one when absent.')),
  model: model.optional().meta(about("In place of the bundle's models.")),
  stubs: stubs.optional(),
  runs: z
    .array(z.string().min(1))
    .optional()
    .meta(about('Tools that really run. One that only reads does anyway, unless it has a stub; any other fails.')),
  approvals: z
    .enum(['allow', 'reject'])
    .optional()
    .meta(about('What is answered when a person is asked to approve. `reject` when absent.')),
  repeats: z.int().min(1).max(1_000).optional().meta(about('How often each case is run: 1 when absent.')),
  pass_rate: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta(about('The part of the repeats that has to pass: 1 when absent.')),
  timeout_ms: z.int().min(1).optional().meta(about('Milliseconds of one repeat: 120,000 when absent.')),
};

const evalCase = z.strictObject({
  name: z.string().min(1).max(200),
  tags: z.array(z.string().min(1)).optional(),
  input: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .meta(about('What is said; each of several once the one before is answered.')),
  answers: z.array(z.string()).optional().meta(about('What is answered to questions of the agent, in their order.')),
  ...settings,
  expect,
});
export type EvalCase = z.infer<typeof evalCase>;

/** A suite as its file holds it: cases, and what holds for all of them. */
const suite = z
  .strictObject({
    bundle: z.string().min(1).meta(about('The YAML file of the agents, beside the suite.')),
    ...settings,
    parallel: z.int().min(1).max(64).optional().meta(about('Repeats that run at the same time: 4 when absent.')),
    judge: z
      .union([z.strictObject({ provider: z.string().min(1), model: z.string().min(1) }), model])
      .optional()
      .meta(about("The model that judges answers. The agent's own when absent.")),
    cases: z.array(evalCase).min(1),
  })
  .refine(({ cases }) => new Set(cases.map(({ name }) => name)).size === cases.length, {
    error: 'cases with names of their own',
    path: ['cases'],
  });
export type Suite = z.infer<typeof suite>;

/** The schema of a suite, for editors. */
export function suiteJsonSchema(): JsonObject {
  return z.toJSONSchema(suite, { io: 'input', unrepresentable: 'any' }) as JsonObject; // the same set, typed more loosely
}

/** Reads a suite. Throws a BundleError with each mistake and the line it stands on. */
export function readSuite(text: string, file: string): Suite {
  const problems = new Problems();
  const source = readYaml(text, file, problems, (written) => written);
  problems.throwIfAny(file);
  const parsed = suite.safeParse(source?.value, { reportInput: true });
  if (parsed.success) return parsed.data;
  for (const { path, found, wanted, unknownKey } of misfits(parsed.error.issues)) {
    const at = path as Path; // JSON has no symbols for keys
    if (unknownKey === undefined)
      problems.add('suite_invalid', { place: source?.valuePlace(at), found: found ?? 'nothing', wanted });
    else
      problems.add('suite_invalid', {
        place: source?.place(at),
        found: `the key ${unknownKey}, which nothing reads`,
        wanted: keysOf(at),
      });
  }
  problems.throwIfAny(file);
  throw new TreadleError('suite_invalid', { place: file });
}

function keysOf(path: Path): string {
  const at = path.slice(0, -1).filter((part) => typeof part === 'string');
  const shapes: Readonly<Record<string, z.ZodObject>> = {
    '': suite,
    cases: evalCase,
    expect,
    max,
  };
  const shape = shapes[at.at(-1) ?? ''];
  return shape === undefined ? 'a key that is known' : oneOf(Object.keys(shape.shape));
}
