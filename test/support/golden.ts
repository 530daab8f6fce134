import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { promptSections } from '../../src/assembly/render.ts';
import { toJson } from '../../src/base/json.ts';
import type { Fact } from '../../src/domain/event.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import type { ConversationRow } from '../../src/kernel/log.ts';
import { createPlatform } from '../../src/platform/platform.ts';
import { noIds } from './house.ts';

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

export interface Golden {
  readonly name: string;
  readonly folder: string;
  readonly about: string;
  readonly steps: readonly Step[];
  /** Why this case's prefix may change between two calls. Absent: it may only grow. */
  readonly prefixMayChange?: string;
}

const root = path.join(import.meta.dirname, '../golden');
const fixedClock = { now: () => Date.UTC(2026, 0, 5, 9, 30), after: () => () => undefined };

export interface Seen {
  readonly request: ModelRequest;
  readonly text: string;
}

export interface Played {
  /** Every prompt that was sent. */
  readonly seen: readonly Seen[];
  readonly facts: readonly Fact[];
  readonly row: ConversationRow;
}

/** Every case under `test/golden`. */
export function goldenCases(): readonly Golden[] {
  return readdirSync(root).map((name) => {
    const folder = path.join(root, name);
    return { ...(JSON.parse(readFileSync(path.join(folder, 'case.json'), 'utf8')) as Golden), name, folder };
  });
}

/** Plays a case with the real platform and its scripted model, and writes down what the model saw. */
export async function play({ folder, steps }: Golden): Promise<Played> {
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
  const row = log.find(id);
  await platform.close();
  if (row === undefined) throw new Error('the case left no conversation');
  return { seen, facts, row };
}
