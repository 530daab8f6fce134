// What every gate that comes with Treadle must do, whatever it is about. One call a gate.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { isObject } from '../../src/base/json.ts';
import { digest } from '../../src/base/digest.ts';
import { iterationsOf, openRequests, type Conversation } from '../../src/domain/conversation.ts';
import type { EffectiveAgent, Limits } from '../../src/domain/agent.ts';
import type { Fact } from '../../src/domain/event.ts';
import type { Bus } from '../../src/kernel/bus.ts';
import { install, type InstallOptions, type Plugin } from '../../src/kernel/plugin.ts';
import type { ConversationMeta, Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { Tool } from '../../src/kernel/running-tool.ts';
import { delegateTo } from '../../src/kernel/tool.ts';
import { deny, QUESTION_ABOUT, type Questions, type QuestionType } from '../../src/kernel/verdict.ts';
import { drive } from '../../src/loop/drive.ts';
import type { Script, ScriptView } from '../../src/adapters/models/script.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { Crash, dyingLog, type CrashPoint } from '../support/crash-log.ts';
import { aHouse, anAgent, aTool, type House } from '../support/house.ts';
import { brokenMessages, brokenRules } from '../support/invariants.ts';
import { aClock, type SimulatedClock } from '../support/sim-clock.ts';
import { messageText } from '../../src/assembly/message-text.ts';
import { transcript } from '../../src/assembly/transcript.ts';

/** What a gate that the platform makes is made of. */
export interface GateWorld {
  readonly bus: Bus;
  readonly clock: SimulatedClock;
  readonly log: Log;
}

export interface GateUnderTest {
  readonly plugin: Plugin;
  /** Makes it anew for each process, where it is more than its configuration; else it is `plugin`. */
  readonly make?: (world: GateWorld) => Plugin;

  /** Which of several scenarios of one gate. */
  readonly as?: string;
  readonly config: unknown;
  /** Tools that may be run again: what a crash makes of them is the same as without. */
  readonly tools?: readonly Tool[];
  readonly script: Script;
  readonly says?: string;
  readonly agent?: Partial<EffectiveAgent>;
  readonly limits?: Partial<Limits>;
  readonly host?: Pick<InstallOptions, 'spending' | 'modelsOf'>;
  /** Its verdicts in the scenario: `question verdict`, in order. */
  readonly verdicts: readonly string[];
  /** How the turn came out: status, error code, answer, and the outcome of each action with its code. */
  readonly came: readonly unknown[];
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export function gateConformance(given: GateUnderTest): void {
  const { plugin, config } = given;
  const { id } = plugin;
  const name = given.as === undefined ? id : `${id}, ${given.as}`;

  test(`${name}: it acts, and the log says so`, async () => {
    const { house, facts, conversation } = await live(given);
    assert.deepEqual(verdictsOf(facts, id), given.verdicts);
    assert.deepEqual(cameOf(conversation), given.came);
    assert.deepEqual(brokenRules(facts), []);
    assert.deepEqual(brokenMessages(transcript(await house.fold(), { provider: 'scripted', model: 'scripted' })), []);
  });

  test(`${name}: the model is told exactly this`, async () => {
    const told: string[] = [];
    await live(given, { told });
    const file = path.join(
      import.meta.dirname,
      `../plugins/told/${[id, ...(given.as?.split(' ') ?? [])].join('-')}.txt`,
    );
    const text = told.map((one, index) => `━━━━ call ${index + 1}\n${one}`).join('\n\n');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, `${text}\n`);
    assert.equal(text, existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '(no file: run with UPDATE_GOLDEN=1)');
  });

  test(`${name}: wherever a process dies, the turn comes out the same`, async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at++) {
        const cut = await live(given, { crash: { at, when } });
        if (!cut.crashed) break;
        assert.deepEqual([when, at, cameOf(cut.conversation)], [when, at, given.came]);
        assert.deepEqual(brokenRules(cut.facts), [], `${when} ${at}`);
      }
    }
  });

  test(`${name}: whatever stands beside it, in whatever order, the turn comes out the same`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(neighbour, { maxLength: 4 }), fc.nat(4), async (neighbours, place) => {
        const { conversation } = await live(given, { neighbours, place });
        assert.deepEqual(cameOf(conversation), given.came);
      }),
      { numRuns: 15 },
    );
  });

  test(`${name}: a gate that refuses for good refuses beside it, in whatever order`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<QuestionType>('before:llm.request', 'before:tool.invoke', 'before:io.output'),
        fc.integer({ min: 0, max: 2_000 }),
        fc.boolean(),
        async (question, priority, isFirst) => {
          const refusal = { question, priority };
          const one = await live(given, { neighbours: [refusal], place: isFirst ? 1 : 0 });
          const effect = { 'before:llm.request': 'llm.request', 'before:tool.invoke': 'tool.invoke' }[
            question as string
          ];
          assert.equal(one.facts.filter(({ type }) => type === (effect ?? 'io.output')).length, 0);
        },
      ),
      { numRuns: 12 },
    );
  });

  test(`${name}: where it throws, hangs or answers with junk, the answer is no`, async () => {
    for (const [how, fault] of FAULTS) {
      const clock = aClock();
      const { bus } = aHouse({ clock, gateTimeoutMs: 50 });
      const broken: Bus = { ...bus, before: (question, _, options) => bus.before(question, fault as never, options) };
      const { manifest } = install(plugin, config, { bus: broken, clock, logger: silent, ...given.host });
      assert.ok(manifest.gates.length > 0);
      for (const question of manifest.gates) {
        const context = { conversation: await aHouse().fold(), agent: undefined };
        const judged = await clock.until(Promise.resolve(bus.ask(question, SAMPLES[question] as never, context)));
        assert.equal(judged.outcome, 'deny', `${question} ${how}`);
      }
    }
  });

  test(`${name}: every key of its configuration is documented, and its example is one`, () => {
    const schema = z.toJSONSchema(plugin.config, { io: 'input', unrepresentable: 'any' });
    assert.deepEqual(undocumented(schema, id), []);
    const example =
      plugin.example ??
      (isObject(schema['properties']) && Object.keys(schema['properties']).length > 0 ? undefined : {});
    assert.ok(example !== undefined && plugin.config.safeParse(example).success);
    assert.equal(plugin.config.safeParse({ ...example, no_such_key: 1 }).success, false);
  });

  if (!manifestOf(given).some((question) => question.startsWith('before:llm.'))) return;
  test(`${name}: it is asked about model calls of the agent, of planner and memory, and of runs below`, async () => {
    assert.deepEqual([...(await whoAsks(given))].sort(), ['c1 compact', 'c1 own', 'c1 plan', 'c1.t1-1-1 own']);
  });
}

interface Neighbour {
  readonly question: QuestionType;
  readonly priority: number;
  /** What it answers; a deny when absent. */
  readonly answer?: 'nothing' | 'late' | 'the same';
}

/** Gates that have nothing against anything. */
const neighbour: fc.Arbitrary<Neighbour> = fc.record({
  question: fc.constantFrom(...(Object.keys(QUESTION_ABOUT) as QuestionType[])),
  priority: fc.integer({ min: 0, max: 2_000 }),
  answer: fc.constantFrom('nothing', 'late', 'the same'),
});

function settle({ question, priority, answer }: Neighbour, bus: Bus, place: number): void {
  const judge = (payload: unknown): unknown => {
    switch (answer) {
      case undefined:
        return deny('not here', 'neighbour');
      case 'nothing':
        return undefined;
      case 'late':
        return Promise.resolve(undefined);
      default:
        return { verdict: 'revise', payload: structuredClone(payload) };
    }
  };
  bus.before(question, judge as never, { priority, source: `gate.neighbour_${place}` });
}

interface LiveOptions {
  readonly crash?: CrashPoint;
  readonly neighbours?: readonly Neighbour[];
  /** How many neighbours are registered before it. */
  readonly place?: number;
  /** Takes what each prompt had besides the instructions. */
  readonly told?: string[];
}

interface Lived {
  readonly house: House;
  readonly facts: readonly Fact[];
  readonly conversation: Conversation;
  readonly crashed: boolean;
}

/** One turn from the message to its end, with a yes to whatever is asked; a new process takes over after a crash. */
async function live(
  given: GateUnderTest,
  { crash, neighbours = [], place = 0, told }: LiveOptions = {},
): Promise<Lived> {
  const clock = aClock();
  const log = createMemoryLog({ clock });
  const enter = (of: ReturnType<typeof createMemoryLog> | ReturnType<typeof dyingLog>): House =>
    aHouse({
      log: of,
      clock,
      tools: given.tools ?? [],
      script: given.script,
      ...(given.limits !== undefined && { limits: given.limits }),
      ...(given.agent !== undefined && { agent: given.agent }),
      plugins(bus) {
        for (const [index, one] of neighbours.slice(0, place).entries()) settle(one, bus, index);
        put(given, bus, clock, of);
        for (const [index, one] of neighbours.slice(place).entries()) settle(one, bus, index + place);
        if (told !== undefined) overhear(bus, told);
      },
    });
  let house = enter(crash === undefined ? log : dyingLog(log, crash));
  await house.say(given.says ?? 'go');
  let crashed = false;
  for (let slice = 0; slice < 40; slice++) {
    try {
      const { turn, inbox } = await clock.until(house.drive({ owner: `w${slice}` }));
      if (turn === undefined && inbox.length === 0) break;
      for (const { request } of turn === undefined ? [] : openRequests(turn))
        await house.post({ type: 'hitl.responded', payload: { request, decision: 'allow', by: 'ana' }, key: request });
      const until = turn?.denied?.retryAt;
      if (until !== undefined) clock.advance(Math.max(0, until - clock.now()));
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      crashed = true;
      clock.advance(120_000); // the dead worker's lease runs out
      house = enter(log);
    }
  }
  return { house, facts: await house.facts(), conversation: await house.fold(), crashed };
}

/** What a model is told after all gates: the tools and messages, notes for this call, and announce. */
function overhear(bus: Bus, told: string[]): void {
  bus.before(
    'before:llm.request',
    ({ request: { model, tools, messages, announce = '' }, notes }) => {
      const parts = [
        ...(model.model === 'scripted' ? [] : [`model: ${model.provider}/${model.model}`]),
        `tools: ${tools.map(({ name }) => name).join(', ') || 'none'}`,
        ...messages.map(messageText),
        ...notes.map((one) => `note: ${one}`),
        ...(announce === '' ? [] : [`announce: ${announce}`]),
      ];
      told.push(parts.join('\n'));
      return undefined;
    },
    { priority: 5_000, source: 'spy' },
  );
}

function put({ plugin, make, config, host }: GateUnderTest, bus: Bus, clock: SimulatedClock, log: Log): void {
  install(make?.({ bus, clock, log }) ?? plugin, config, { bus, clock, logger: silent, ...host });
}

function manifestOf({ plugin, config, host }: GateUnderTest): readonly QuestionType[] {
  const { bus } = aHouse();
  return install(plugin, config, { bus, clock: aClock(), logger: silent, ...host }).manifest.gates;
}

function verdictsOf(facts: readonly Fact[], gate: string): readonly string[] {
  return facts.flatMap((fact) =>
    fact.type === 'gate.verdict' && fact.payload.gate === gate
      ? [`${fact.payload.question} ${fact.payload.verdict}`]
      : [],
  );
}

function cameOf({ turns }: Conversation): readonly unknown[] {
  return [...turns].flatMap((turn) => [
    turn.end?.status,
    turn.end?.error?.code,
    turn.output,
    ...[...iterationsOf(turn)].flatMap(({ actions }) =>
      actions.map(({ observation }) => observation?.error?.code ?? observation?.outcome),
    ),
  ]);
}

const FAULTS: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('out of order');
    },
  ],
  ['rejects', () => Promise.reject(new Error('out of order'))],
  ['hangs', () => new Promise(() => undefined)],
  ['answers true', () => true],
  ['allows', () => ({ verdict: 'allow' })],
];

const definition = aTool('look', () => 1).definition;
const SAMPLES: { readonly [Q in QuestionType]: Questions[Q] } = {
  'before:io.input': { text: 'hi', mode: 'message' },
  'before:llm.request': {
    request: {
      model: { provider: 'scripted', model: 'scripted' },
      ...{ instructions: '', tools: [], messages: [], announce: undefined, toolChoice: undefined },
    },
    ...{ iteration: 1, attempt: 1, notes: [] },
  },
  'before:llm.response': { texts: ['hi'], thoughts: ['hm'], inputs: ['{}'], isAnswer: true },
  'before:tool.invoke': { action: 'a', tool: definition, arguments: {}, timeoutMs: 1 },
  'before:tool.result': { action: 'a', tool: definition, arguments: {}, observation: { outcome: 'ok', value: 1 } },
  'before:hitl.requested': { request: 'r', kind: 'action', question: '?' },
  'before:io.output': { text: 'hi' },
};

/** Paths of keys that say nothing of themselves. */
function undocumented(schema: unknown, path: string): readonly string[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const inner = [schema['items'], schema['additionalProperties'], ...[schema['anyOf'] ?? []].flat()];
  return [
    ...properties.flatMap(([name, one]) => [
      ...(isObject(one) && typeof one['description'] === 'string' ? [] : [`${path}.${name}`]),
      ...undocumented(one, `${path}.${name}`),
    ]),
    ...inner.flatMap((one) => undocumented(one, path)),
  ];
}

/** Runs a turn with a plan, a summary and a run below it, and says whose model calls the gate was asked about. */
async function whoAsks(given: GateUnderTest): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  const clock = aClock();
  const tools = [
    aTool('delegate', ({ task }: { task: string }) => delegateTo('clerk', task), {
      effect: 'idempotent',
      timeoutMs: 0,
    }),
  ];
  const log = createMemoryLog({ clock });
  const house = aHouse({
    clock,
    log,
    tools,
    script: (view: ScriptView) => {
      const usage = { input: 5_000, output: 5 };
      if (view.userText === 'go' && view.step === 0 && view.request.tools.length > 0)
        return { usage, actions: [{ name: 'delegate', arguments: { task: 'work' } }] };
      return { usage, text: 'fine' };
    },
    plugins(bus) {
      const spied: Bus = {
        ...bus,
        before: (question, _, options) =>
          bus.before(
            question,
            // Who is asked about is what counts here: what it would say might end the turn early.
            (payload, context) => {
              const { purpose = 'own' } = payload as { purpose?: string };
              if (question.startsWith('before:llm.')) seen.add(`${context.conversation.id} ${purpose}`);
              return undefined;
            },
            options,
          ),
      };
      put(given, spied, clock, log);
      bus.answer('plan.request', async (_, { askModel }) => {
        const asked = await askModel({ instructions: 'Plan.', text: 'go' });
        return { steps: [{ title: asked.ok ? asked.text : '' }], source: 'test' };
      });
      bus.answer('memory.compact.request', async (_, { askModel }) => {
        const asked = await askModel({ instructions: 'Sum up.', text: 'go' });
        return { through: 1, summary: asked.ok ? asked.text : '' };
      });
    },
  });
  const agents: House['ports']['agents'] = {
    assemble({ agent: id }) {
      const limits = { maxSubagents: 2, contextMaxTokens: 1_000 };
      const planning = id === 'main' ? { planning: { approval: 'never', placement: 'announce' } as const } : {};
      const agent = anAgent(tools, limits, { id, ...planning });
      return { agent, digest: digest(id), facts: [] };
    },
    tools: () => new Map(tools.map((tool) => [tool.definition.name, tool])),
  };
  const ports = { ...house.ports, agents };
  const slice = async (id: string): Promise<void> => {
    const meta = (await house.log.find(id)) as ConversationMeta;
    const lease = await house.log.take(id, 'w1', 60_000);
    assert.ok(lease !== undefined);
    await clock.until(drive(ports, meta, lease));
    await house.log.release(lease);
  };
  for (const text of ['go', 'and again']) {
    await house.say(text);
    for (let ready = await house.log.ready(10); ready.length > 0; ready = await house.log.ready(10))
      for (const id of ready) await slice(id);
  }
  return seen;
}
