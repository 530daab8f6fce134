// Streams as providers really sent them, served again at wire level to the real adapters.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputTokens, outputTokens } from '../../src/domain/usage-sum.ts';
import { casesAbsent } from '../support/cases.ts';
import { FAILURES } from '../support/cuts.ts';
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
      if (FAILURES[name] !== undefined) {
        assert.ok(last?.type === 'failure');
        assert.equal(last.failure.class, FAILURES[name]);
        return;
      }
      assert.ok(last?.type === 'finish', JSON.stringify(last));
      assert.notEqual(last.stop, 'unknown');
      const total = totalOf(payloads);
      if (total !== undefined) assert.equal(inputTokens(last.usage) + outputTokens(last.usage), total);
    });
  }
});

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
