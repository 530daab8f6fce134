// A model with a prompt cache as Anthropic describes its own: entries by prefix, written where a marker stands, found up
// to twenty blocks before one, alive for five minutes from their last use. Independent of the code under test.
import type { Clock } from '../../src/base/clock.ts';
import { digest } from '../../src/base/digest.ts';
import { toJson } from '../../src/base/json.ts';
import { isPromise } from '../../src/base/promise.ts';
import type { Message, ModelRequest } from '../../src/domain/model.ts';
import type { Usage } from '../../src/domain/usage.ts';
import type { Model, ModelSource } from '../../src/kernel/model.ts';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';

const LOOK_BACK = 20;
const LEAST_TOKENS = 1_024;
const SHORT_MS = 300_000;
const LONG_MS = 3_600_000;

export interface CachedModels extends ModelSource {
  /** Every request that was sent, oldest first. */
  readonly requests: ModelRequest[];
  /** The provider forgets everything, as it may. */
  forget(): void;
}

export function cachedModels(script: Script, clock: Clock): CachedModels {
  const entries = new Map<string, { until: number; ms: number }>();
  const requests: ModelRequest[] = [];
  const inner = createScriptedModel(script, { clock });
  const model: Model = {
    call(request, context) {
      requests.push(request);
      const usage = bill(request, entries, clock.now());
      const called = inner.call(request, context);
      if (isPromise(called)) throw new Error('the scripted model answers at once');
      return {
        next() {
          const part = called.next();
          if (isPromise(part)) return part.then((late) => (late?.type === 'finish' ? { ...late, usage } : late));
          return part?.type === 'finish' ? { ...part, usage: { ...usage, output: 10 } } : part;
        },
        close: () => called.close(),
      };
    },
  };
  return { open: () => model, requests, forget: () => entries.clear() };
}

/** The prompt as blocks of text, in the order of the wire: tools, instructions, then what the messages hold. */
function blocksOf({ tools, instructions, gallery = '', messages }: ModelRequest): {
  readonly texts: string[];
  readonly ends: number[];
} {
  const texts = [
    JSON.stringify(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])) +
      instructions +
      gallery,
  ];
  const ends: number[] = [];
  for (const message of messages) {
    texts.push(...parts(message));
    ends.push(texts.length);
  }
  return { texts, ends };
}

function parts(message: Message): string[] {
  const list: readonly unknown[] = message.role === 'tool' ? message.results : message.content;
  return list.map((part) => message.role + JSON.stringify(part));
}

function bill(request: ModelRequest, entries: Map<string, { until: number; ms: number }>, now: number): Usage {
  const { texts, ends } = blocksOf(request);
  const name = `${request.model.provider}/${request.model.model}`;
  const prefixes: { readonly hash: string; readonly tokens: number }[] = [{ hash: '', tokens: 0 }];
  for (const text of texts) {
    const before = prefixes.at(-1) ?? { hash: '', tokens: 0 };
    prefixes.push({
      hash: digest(toJson([name, before.hash, text])),
      tokens: before.tokens + Math.ceil(text.length / 4),
    });
  }
  let read = 0;
  let written = 0;
  const markers = (request.checkpoints ?? []).map(({ message, long }) => ({
    at: message === undefined ? 1 : (ends[message] ?? 1),
    long,
  }));
  if (markers.length > 4) throw new Error('a maximum of 4 markers is accepted');
  for (const { at } of markers) {
    for (let back = at; back > Math.max(0, at - LOOK_BACK); back--) {
      const prefix = prefixes[back];
      const entry = prefix === undefined ? undefined : entries.get(prefix.hash);
      if (prefix === undefined || entry === undefined || entry.until < now) continue;
      entry.until = now + entry.ms;
      read = Math.max(read, prefix.tokens);
      break;
    }
  }
  for (const { at, long } of markers) {
    const prefix = prefixes[at];
    if (prefix === undefined || prefix.tokens < LEAST_TOKENS) continue;
    const ms = long ? LONG_MS : SHORT_MS;
    entries.set(prefix.hash, { until: now + ms, ms });
    written = Math.max(written, prefix.tokens);
  }
  const total = (prefixes.at(-1)?.tokens ?? 0) + Math.ceil((request.announce ?? '').length / 4);
  const write = Math.max(0, written - read);
  const isLong = markers.some(({ long }) => long);
  return {
    input: total - read - write,
    cacheRead: read,
    cacheWrite: isLong ? 0 : write,
    ...(isLong ? { cacheWriteLong: write } : {}),
    output: 10,
  };
}
