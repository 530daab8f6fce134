// A provider's stream that breaks off, in the loop: whatever arrived, the next request is one the provider accepts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fetch } from '../../src/adapters/models/providers.ts';
import type { ModelSource } from '../../src/kernel/ports.ts';
import { brokenRules } from '../support/invariants.ts';
import { casesAbsent } from '../support/cases.ts';
import { aHouse, aTool } from '../support/house.ts';
import { recordedStreams, serve, type Recorded } from '../support/recorded.ts';
import { openWire, validators, WIRE_MODELS, WIRE_PROVIDERS } from '../support/wire.ts';

const skip = casesAbsent();
const streams = skip === false ? recordedStreams() : [];

/** Cuts of one stream: every byte of a short one is tried in the adapter's own tests; here, places all over it. */
const CUTS = 14;

/** Two turns: the first call is cut, what the second one sends is kept. */
async function nextBody(
  { provider, bytes }: Recorded,
  cut: number,
): Promise<{ readonly body: unknown; readonly broken: readonly string[] }> {
  let calls = 0;
  let body: unknown;
  const fetch: Fetch = (url, init) => {
    if (++calls === 1) return serve(bytes.subarray(0, cut))(url, init);
    body = JSON.parse(init?.body as string);
    return serve(new Uint8Array())(url, init);
  };
  const ref = WIRE_MODELS[provider];
  const opened = openWire(ref, fetch);
  const models: ModelSource = { open: () => opened };
  const names = ['weather', 'getWeather', 'get_weather', 'calculator', 'updateIssueList', 'json', 'test-tool'];
  const house = aHouse({
    models,
    tools: names.map((name) => aTool(name, () => 'sunny')),
    limits: { maxAttempts: 1, maxIterations: 2 },
    agent: { models: [ref] },
  });
  await house.ask('What is the weather?');
  await house.ask('Go on.');
  return { body, broken: brokenRules(await house.facts()) };
}

for (const provider of WIRE_PROVIDERS.filter((one) => streams.some((stream) => stream.provider === one))) {
  test(`after a cut anywhere in a stream of ${provider}, the next request is one it accepts`, { skip }, async () => {
    for (const stream of streams.filter((one) => one.provider === provider && one.bytes.length < 40_000)) {
      for (let part = 0; part <= CUTS; part++) {
        const cut = Math.round((stream.bytes.length * part) / CUTS);
        const { body, broken } = await nextBody(stream, cut);
        assert.deepEqual(
          { name: stream.name, cut, problems: validators[provider](body), broken },
          { name: stream.name, cut, problems: [], broken: [] },
        );
      }
    }
  });
}
