import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryLog } from '../src/adapters/stores/memory.ts';
import { messageText } from '../src/assembly/message-text.ts';
import { promptSections } from '../src/assembly/render.ts';
import { canonicalJson, toJson } from '../src/base/json.ts';
import type { Fact } from '../src/domain/event.ts';
import type { ModelRequest } from '../src/domain/model.ts';
import { createPlatform } from '../src/platform/platform.ts';
import { noIds } from './support/house.ts';

/** What happens in a case: people speak and answer, in this order; between two things the agent works until it rests. */
interface Step {
  readonly say?: string;
  readonly answer?: {
    readonly decision: 'allow' | 'reject' | 'edit' | 'reply';
    readonly arguments?: object;
    readonly text?: string;
    readonly note?: string;
  };
}

interface Golden {
  readonly about: string;
  readonly steps: readonly Step[];
  /** Why this case's prefix may change between two calls. Absent: it may only grow. */
  readonly prefixMayChange?: string;
}

const root = path.join(import.meta.dirname, 'golden');
/** Set to write the files anew; look at the difference before you commit it. */
const update = process.env['UPDATE_GOLDEN'] === '1';

const fixedClock = { now: () => Date.UTC(2026, 0, 5, 9, 30), after: () => () => undefined };

interface Seen {
  readonly request: ModelRequest;
  readonly text: string;
}

async function play(
  folder: string,
  { steps }: Golden,
): Promise<{ readonly seen: readonly Seen[]; readonly facts: readonly Fact[] }> {
  const log = createMemoryLog({ clock: fixedClock });
  const platform = await createPlatform({
    bundle: path.join(folder, 'bundle.yaml'),
    environment: {},
    log,
    clock: fixedClock,
    ids: noIds,
  });
  const seen: Seen[] = [];
  platform.bus.before(
    'before:llm.request',
    ({ request }, { conversation }) => {
      const sections = promptSections(request, conversation).filter((section) => section.text !== '');
      seen.push({ request, text: sections.map(({ name, text }) => `── ${name}\n${text}`).join('\n') });
      return undefined;
    },
    { priority: 1_000 },
  );
  const { id } = await platform.conversations.start();
  for (const step of steps) {
    if (step.say !== undefined) await platform.conversations.say(id, { text: step.say });
    if (step.answer !== undefined) {
      const { turn } = await platform.conversations.read(id);
      const request = turn?.requests.find((one) => one.answer === undefined)?.request ?? '';
      const { arguments: given, ...answer } = step.answer;
      await platform.conversations.answer(id, {
        request,
        by: 'ana',
        ...answer,
        ...(given === undefined ? {} : { arguments: toJson(given) }),
      });
    }
    await platform.conversations.drive(id);
  }
  const facts = log.read(id, 0, 10_000);
  await platform.close();
  return { seen, facts };
}

/** One line a fact: what a person who reviews a change wants to see of a run. Token counts are the scripted model's guess. */
function timelineOf(facts: readonly Fact[]): string {
  const shown = (fact: Fact): unknown => {
    switch (fact.type) {
      case 'agent.turn.start':
        return { resumed: fact.payload.resumed ?? false };
      case 'llm.request':
        return { attempt: fact.payload.attempt };
      case 'llm.response':
      case 'agent.turn.end':
        return { ...fact.payload, usage: undefined };
      default:
        return fact.payload;
    }
  };
  const line = (fact: Fact): string =>
    `${String(fact.seq).padStart(3)} ${fact.type} ${canonicalJson(toJson(shown(fact)))}`;
  return facts.map(line).join('\n');
}

function compare(file: string, actual: string): void {
  if (update) writeFileSync(file, `${actual}\n`);
  assert.equal(actual, existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '(no file: run with UPDATE_GOLDEN=1)');
}

for (const name of readdirSync(root)) {
  const folder = path.join(root, name);
  const golden = JSON.parse(readFileSync(path.join(folder, 'case.json'), 'utf8')) as Golden;
  test(`golden ${name}: ${golden.about}`, async (t) => {
    const { seen, facts } = await play(folder, golden);
    await t.test('the model sees exactly these prompts', () => {
      compare(
        path.join(folder, 'prompts.txt'),
        seen.map(({ text }, index) => `━━━━ call ${index + 1}\n${text}`).join('\n\n'),
      );
    });
    await t.test('the log tells exactly this story', () =>
      compare(path.join(folder, 'timeline.txt'), timelineOf(facts)),
    );
    const { prefixMayChange } = golden;
    await t.test(`between two calls the bytes before announce only grow, ${prefixMayChange ?? 'always'}`, () => {
      const prefixes = seen.map(({ request }) =>
        [
          request.instructions,
          request.gallery ?? '',
          ...request.tools.map((tool) => canonicalJson(toJson(tool))),
          ...request.messages.map(messageText),
        ].join('\n'),
      );
      const broken = prefixes.flatMap((prefix, index) =>
        prefixes[index + 1]?.startsWith(prefix) === false
          ? [`call ${index + 2} is not call ${index + 1} and more`]
          : [],
      );
      // A case that says why it may be otherwise has to be otherwise: an exception that nobody needs is none.
      if (prefixMayChange === undefined) assert.deepEqual(broken, []);
      else assert.notDeepEqual(broken, []);
    });
  });
}
