import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { messageText } from '../src/assembly/message-text.ts';
import { canonicalJson, toJson } from '../src/base/json.ts';
import type { Fact } from '../src/domain/event.ts';
import { goldenCases, play } from './support/golden.ts';

/** Set to write the files anew; look at the difference before you commit it. */
const update = process.env['UPDATE_GOLDEN'] === '1';

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

for (const golden of goldenCases()) {
  const { folder } = golden;
  test(`golden ${golden.name}: ${golden.about}`, async (t) => {
    const { seen, facts } = await play(golden);
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
