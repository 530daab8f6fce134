// Streams as providers really sent them, served again at wire level to the real adapters.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelPart } from '../../src/domain/model.ts';
import { inputTokens, outputTokens } from '../../src/domain/usage-sum.ts';
import { casesAbsent } from '../support/cases.ts';
import { recordedStreams, replay, serve, type Recorded } from '../support/recorded.ts';
import { actionsOf, textOf, thinkingOf } from '../support/streams.ts';

const skip = casesAbsent();
const streams = skip === false ? recordedStreams() : [];

/** What a person who reads the recording would say of it. `-` in a text means that only its beginning is named. */
interface Facts {
  readonly stop: string;
  readonly text?: string;
  readonly actions?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly input: number;
  readonly output: number;
  readonly thinks?: true;
}

const weather = { name: 'weather', arguments: { location: 'San Francisco' } };

const facts: Readonly<Record<string, Facts>> = {
  'anthropic/anthropic-text': { stop: 'finished', text: "Hello! I'm doing well", input: 12, output: 30 },
  'anthropic/anthropic-json-other-tool.1': { stop: 'actions', actions: [weather], input: 843, output: 28 },
  'anthropic/anthropic-tool-no-args': {
    stop: 'actions',
    text: "I'll update the issue list for you.",
    actions: [{ name: 'updateIssueList', arguments: {} }],
    input: 565,
    output: 48,
  },
  'anthropic/anthropic-clear-thinking.1': {
    stop: 'finished',
    text: '925 ÷ 5 = 185',
    input: 69,
    output: 53,
    thinks: true,
  },
  'anthropic/anthropic-refusal': { stop: 'refused', text: '', input: 18, output: 5 },
  'anthropic/duplicate-message-start': { stop: 'finished', text: 'Hello, World!', input: 17, output: 227 },
  // The bill of the compaction is in it: the provider leaves it out of its own top line.
  'anthropic/anthropic-compaction.1': { stop: 'finished', text: '## Summary of Conv', input: 60997, output: 3341 },
  'anthropic/anthropic-code-execution-20260120-prompt-cache.1': {
    stop: 'finished',
    text: 'The sum of the squares',
    input: 6 + 3337 + 6289,
    output: 198,
  },
  'google/google-text': { stop: 'finished', text: 'There are **3** "r"s', input: 9, output: 208 },
  'google/google-tool-call': { stop: 'actions', actions: [weather], input: 29, output: 60 },
  'google/google-stream-tool-call-arguments': {
    stop: 'actions',
    actions: [
      { name: 'getWeather', arguments: { location: 'Boston' } },
      { name: 'getWeather', arguments: { location: 'San Francisco' } },
    ],
    input: 26,
    output: 155,
  },
  'openai/chat--openai-text': { stop: 'finished', text: '**Holiday Name:** Harmony Day', input: 16, output: 300 },
  'openai/responses--openai-tool-search.1': {
    stop: 'actions',
    actions: [{ name: 'get_weather', arguments: { location: 'San Francisco, CA', unit: 'fahrenheit' } }],
    input: 640,
    output: 46,
  },
  'openai/responses--openai-reasoning-encrypted-content.1': {
    stop: 'actions',
    text: 'The final result is **570**.',
    actions: [
      { name: 'calculator', arguments: { a: 12, b: 7, op: 'add' } },
      { name: 'calculator', arguments: { a: 19, b: 3, op: 'multiply' } },
      { name: 'calculator', arguments: { a: 57, b: 10, op: 'multiply' } },
    ],
    input: 299,
    output: 12,
    thinks: true,
  },
  'openai/responses--openai-web-search-tool.1': {
    stop: 'finished',
    text: 'I checked today’s',
    input: 31073,
    output: 4416,
  },
  'deepseek/chat--deepseek-reasoning': {
    stop: 'finished',
    text: 'The word "strawberry" contains three "r"s.',
    input: 18,
    output: 219,
    thinks: true,
  },
  'deepseek/chat--deepseek-text': { stop: 'length', text: '## **Holiday Name', input: 13, output: 400 },
  'groq/groq-reasoning': { stop: 'finished', text: 'The word **"strawb', input: 17, output: 1107, thinks: true },
  'groq/groq-text': { stop: 'finished', text: 'Introducing "Luminaria"', input: 45, output: 662 },
  'mistral/mistral-text': { stop: 'finished', text: 'Hello, world! This is a test response.', input: 13, output: 8 },
  'mistral/mistral-tool-call': { stop: 'actions', actions: [weather], input: 124, output: 22 },
  'moonshotai/moonshotai-stream': { stop: 'finished', text: 'Hello!', input: 9, output: 12, thinks: true },
  // xAI bills thinking beside the completion.
  'openai-compatible/chat--xai-text': { stop: 'finished', text: 'Grok', input: 12, output: 342, thinks: true },
  'xai/xai-tool-call': { stop: 'actions', actions: [weather], input: 291, output: 222, thinks: true },
};

/** Recordings that do not end well: the provider failed, or it is a server that breaks the rules of the API it speaks. */
const failures: Readonly<Record<string, string>> = {
  'openai/responses--openai-error.1': 'auth',
  'xai/responses--xai-web-search-tool.1': 'protocol',
  'xai/responses--xai-x-search-tool': 'protocol',
};

function named(name: string): Recorded {
  const found = streams.find((stream) => stream.name === name);
  assert.ok(found, `the recording ${name} is not there`);
  return found;
}

describe('a recorded stream', { skip }, () => {
  for (const [name, expected] of Object.entries(facts)) {
    test(`${name} means what it says`, async () => {
      const { provider, bytes } = named(name);
      const parts = await replay(provider, serve(bytes));
      const finish = parts.at(-1);
      assert.ok(finish?.type === 'finish', JSON.stringify(finish));
      assert.equal(finish.stop, expected.stop);
      assert.ok(textOf(parts).startsWith(expected.text ?? ''), textOf(parts));
      assert.deepEqual(actionsOf(parts), expected.actions ?? []);
      assert.deepEqual([inputTokens(finish.usage), outputTokens(finish.usage)], [expected.input, expected.output]);
      assert.equal(thinkingOf(parts) !== '', expected.thinks === true);
    });
  }

  for (const { name, provider, bytes, payloads } of streams) {
    test(`${name} ends as it should, and its tokens add up to the provider's total`, async () => {
      const parts = await replay(provider, serve(bytes));
      const last = parts.at(-1);
      if (failures[name] !== undefined) {
        assert.ok(last?.type === 'failure');
        assert.equal(last.failure.class, failures[name]);
        return;
      }
      assert.ok(last?.type === 'finish', JSON.stringify(last));
      assert.notEqual(last.stop, 'unknown');
      const total = totalOf(payloads);
      if (total !== undefined) assert.equal(inputTokens(last.usage) + outputTokens(last.usage), total);
    });

    test(`${name} is the same in pieces of any size`, async () => {
      const whole = fixed(await replay(provider, serve(bytes)));
      const sizes = bytes.length > 20_000 ? [997] : bytes.length > 4_000 ? [5, 61] : [1, 2, 61];
      for (const size of sizes) {
        assert.deepEqual(fixed(await replay(provider, serve(bytes, size))), whole, `in pieces of ${size}`);
      }
    });

    test(`${name} may be cut anywhere`, async () => {
      const whole = await replay(provider, serve(bytes));
      const cuts = cutsOf(name, bytes);
      for (let from = 0; from < cuts.length; from += 32) {
        await Promise.all(
          cuts.slice(from, from + 32).map(async (at) => {
            const parts = await replay(provider, serve(bytes.subarray(0, at)));
            checkCut({ name, provider, payloads, bytes }, at, parts, whole);
          }),
        );
      }
    });
  }
});

/** Set it to cut large streams at every byte of their first and last 2 KB and at one in 997 between: minutes of work. */
const exhaustive = process.env['TREADLE_EXHAUSTIVE'] === '1';

/**
 * Where a stream is cut: a chosen few at every byte. The others around the ends of its events, because what is not a
 * whole event is not read, and inside its first characters of several bytes; a few of each, evenly spread.
 */
function cutsOf(name: string, bytes: Uint8Array): number[] {
  const { length } = bytes;
  const edge = 2048;
  const cuts = new Set<number>();
  for (let at = 0; at < length; at++) {
    const isEdge = exhaustive && (at < edge || at >= length - edge || at % 997 === 0);
    if (everyByte.has(name) || isEdge) cuts.add(at);
  }
  // A late cut of a large stream reads nearly all of it.
  const samples = Math.max(2, Math.min(6, Math.floor(100_000 / length)));
  const ends: number[] = [];
  const inside: number[] = [];
  for (let at = 1; at < length; at++) {
    if (bytes[at] === NEWLINE && bytes[at - 1] === NEWLINE) ends.push(at);
    if (((bytes[at] ?? 0) & 0xc0) === 0x80) inside.push(at);
  }
  for (const at of sample(ends, samples)) for (const near of [at - 1, at, at + 1]) if (near < length) cuts.add(near);
  for (const at of sample(inside, samples)) cuts.add(at);
  return [...cuts].sort((a, b) => a - b);
}

/** Small streams, at least one of each adapter, with text, thinking and actions among them. */
const everyByte = new Set([
  'anthropic/anthropic-text',
  'anthropic/anthropic-tool-no-args',
  'google/google-text',
  'google/google-tool-call',
  'mistral/mistral-tool-call',
  'moonshotai/moonshotai-stream',
  'openai/chat--azure-model-router.1',
  'openai/responses--openai-apply-patch-tool-delete.1',
  'xai/xai-tool-call',
]);
const NEWLINE = 10;

function sample(from: readonly number[], count: number): number[] {
  const step = Math.max(1, from.length / count);
  const chosen = new Set<number>(from.slice(-2)); // the end is where an answer becomes one
  for (let index = 0; index < from.length; index += step) chosen.add(from[Math.floor(index)] ?? 0);
  return [...chosen];
}

/** What must hold of a stream that ends after `at` bytes. */
function checkCut(stream: Recorded, at: number, parts: readonly ModelPart[], whole: readonly ModelPart[]): void {
  const where = `${stream.name} cut at ${at}`;
  const seen = new TextDecoder().decode(stream.bytes.subarray(0, at));
  const finishes = parts.filter((part) => part.type === 'finish');
  const isTerminated = seen
    .split(/\r?\n\r?\n/)
    .slice(0, -1)
    .some((event) => isTerminal(stream, event));
  if (!isTerminated) assert.equal(finishes.length, 0, `${where}: finish without the provider's word`);
  if (isTerminated && failures[stream.name] === undefined) assert.equal(finishes.length, 1, `${where}: no finish`);
  const failure = parts.findIndex((part) => part.type === 'failure');
  assert.ok(failure < 0 || failure === parts.length - 1, `${where}: something follows a failure`);
  if (failures[stream.name] === undefined) assert.equal(failure, -1, `${where}: ${JSON.stringify(parts.at(-1))}`);

  const [actions, all] = [parts, whole].map((list) => list.filter((part) => part.type === 'action')) as [
    Extract<ModelPart, { type: 'action' }>[],
    Extract<ModelPart, { type: 'action' }>[],
  ];
  assert.ok(actions.length <= closedActions(stream, seen), `${where}: an action that was not completed`);
  for (const [index, action] of actions.entries()) {
    assert.deepEqual([action.name, action.input], [all[index]?.name, all[index]?.input], `${where}: half an action`);
  }
  for (const kind of [textOf, thinkingOf]) assert.ok(kind(whole).startsWith(kind(parts)), `${where}: other words`);
  for (const part of parts)
    if (part.type === 'delta') assert.ok(part.delta.isWellFormed(), `${where}: half a character`);
}

function isTerminal({ provider }: Recorded, event: string): boolean {
  switch (provider) {
    case 'anthropic':
      return event.startsWith('event: message_stop');
    case 'openai':
      return /^event: response\.(completed|incomplete|failed)/.test(event);
    case 'google':
      return event.includes('"finishReason"');
    case 'openai-chat':
    case 'openai-compatible':
      return /"finish_reason": ?"/.test(event);
  }
}

/** How many actions the provider had closed by then. */
function closedActions({ provider }: Recorded, seen: string): number {
  const count = (pattern: RegExp) => seen.match(pattern)?.length ?? 0;
  switch (provider) {
    case 'anthropic':
      return count(/"type": ?"content_block_stop"/g) + count(/"content": ?\[\{"type": ?"tool_use"/g);
    case 'openai':
      return count(/^event: response\.output_item\.done/gm);
    case 'google':
      return count(/"functionCall"/g);
    case 'openai-chat':
    case 'openai-compatible':
      return /"finish_reason": ?"/.test(seen) ? Infinity : 0;
  }
}

/** The total that the provider names itself, where it names one. */
function totalOf(payloads: readonly string[]): number | undefined {
  let total: number | undefined;
  for (const payload of payloads) {
    const { usage, response, usageMetadata } = JSON.parse(payload) as Record<string, Record<string, unknown> | null>;
    const found =
      usage?.['total_tokens'] ??
      (response?.['usage'] as Record<string, unknown> | null | undefined)?.['total_tokens'] ??
      usageMetadata?.['totalTokenCount'];
    if (typeof found === 'number') total = found;
  }
  return total;
}

/** Packages make up ids where a provider gives none: the parts with these numbered in the order of their appearance. */
function fixed(parts: readonly ModelPart[]): unknown {
  const ids = new Map<string, string>();
  const name = (id: string) => {
    if (!ids.has(id)) ids.set(id, `part ${ids.size}`);
    return ids.get(id);
  };
  return parts.map((part) => {
    if (part.type === 'block') {
      const { block } = part;
      if (block.type !== 'provider') return part;
      return {
        ...block,
        call: block.call === undefined ? undefined : name(block.call),
        data: block.kind.endsWith('.source') ? 'source' : block.data,
      };
    }
    return 'part' in part ? { ...part, part: name(part.part) } : part;
  });
}
