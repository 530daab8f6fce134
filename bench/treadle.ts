// Treadle by its public door and with what is on by default: a bundle, gates, validation, the repeat guard, a lease, and
// every fact in a log.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createMemoryLog,
  createPlatform,
  openSqliteLog,
  systemClock,
  type Model,
  type ModelSource,
  type Platform,
} from '../src/index.ts';
import { usage, type Reply } from './script.ts';
import type { Subject, SubjectOptions } from './subject.ts';
import { decide } from './treadle/decide.ts';
import { running } from './treadle/running.ts';

type Stream = Awaited<ReturnType<Model['call']>>;
type Part = NonNullable<Awaited<ReturnType<Stream['next']>>>;

export async function create(options: SubjectOptions): Promise<Subject> {
  const agent = options.tools === 1 ? 'one' : 'hundred';
  let platform = await open(options);
  let names = new Map<string, string>();
  const readers = new Map<string, (text: string) => void>();
  let isHeard = false;

  async function run(text: string, conversation?: string, onDelta?: (text: string) => void): Promise<string> {
    running.onTool = options.onTool;
    const { conversations } = platform;
    const known = conversation === undefined ? undefined : names.get(conversation);
    const id = known ?? (await conversations.start({ agent })).id;
    if (conversation !== undefined) names.set(conversation, id);
    if (onDelta !== undefined) readers.set(id, onDelta);
    await conversations.say(id, { text });
    const { turns } = await conversations.drive(id);
    if (onDelta !== undefined) readers.delete(id);
    const turn = turns.at(-1);
    return turn?.output ?? JSON.stringify(turn?.end);
  }

  return {
    run: ({ text, conversation }) => run(text, conversation),
    stream({ text, conversation }, onDelta) {
      if (!isHeard) {
        platform.bus.on('llm.stream.chunk', ({ conversationId, payload }) => {
          if (payload.kind === 'text') readers.get(conversationId)?.(payload.delta);
        });
      }
      isHeard = true;
      return run(text, conversation, onDelta);
    },
    /** A log in memory keeps what it has for as long as it lives. */
    async tidy() {
      if (options.log !== undefined) return;
      await platform.close();
      platform = await open(options);
      names = new Map();
      isHeard = false;
    },
    close: () => platform.close(),
  };
}

async function open({ baseUrl, latencyMs, log }: SubjectOptions): Promise<Platform> {
  return createPlatform({
    bundle: path.join(import.meta.dirname, 'treadle/bundle.yaml'),
    environment: {
      BENCH_PROVIDER: baseUrl === undefined ? 'scripted' : 'anthropic',
      ANTHROPIC_API_KEY: 'none',
      ...(baseUrl !== undefined && { ANTHROPIC_BASE_URL: `${baseUrl}/v1` }),
    },
    log:
      log === undefined
        ? createMemoryLog({ clock: systemClock })
        : await openSqliteLog({ file: log.file, clock: systemClock, synchronous: log.sync }),
    ...(baseUrl === undefined && { models: scripted(latencyMs) }),
  });
}

function scripted(latencyMs: number): ModelSource {
  const model: Model = {
    call({ messages }): Stream {
      const parts = partsOf(decide(messages));
      let wait = latencyMs;
      return {
        next() {
          if (wait === 0) return parts.next().value;
          return sleep(wait).then(() => {
            wait = 0;
            return parts.next().value;
          });
        },
        close: () => undefined,
      };
    },
  };
  return { open: () => model };
}

function* partsOf(answer: Reply): Generator<Part, undefined> {
  if ('calls' in answer) {
    for (const call of answer.calls) {
      const input = JSON.stringify(call.arguments);
      yield { type: 'action', part: call.id, name: 'calculate_exposure', input };
    }
    yield { type: 'finish', stop: 'actions', usage };
    return undefined;
  }
  yield { type: 'start', kind: 'text', part: '0' };
  for (const delta of answer.text) yield { type: 'delta', part: '0', delta };
  yield { type: 'end', part: '0' };
  yield { type: 'finish', stop: 'finished', usage };
  return undefined;
}
