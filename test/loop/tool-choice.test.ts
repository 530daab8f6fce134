import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FactPayload } from '../../src/domain/event.ts';
import type { EffectiveAgent } from '../../src/domain/agent.ts';
import { aHouse, aTool } from '../support/house.ts';

/** What each of three model calls was told, and by which rule. */
async function choices(
  toolChoice: EffectiveAgent['toolChoice'],
  override?: FactPayload<'agent.tool_choice'>,
): Promise<string[]> {
  let n = 0;
  const house = aHouse({
    script: (view) => (view.step < 2 ? { actions: [{ name: 'count' }] } : { text: 'ok' }),
    tools: [aTool('count', () => ++n)],
    agent: toolChoice === undefined ? {} : { toolChoice },
  });
  let first = true;
  house.bus.on('tool.result', async () => {
    if (first && override !== undefined) await house.post({ type: 'agent.tool_choice', payload: override });
    first = false;
  });
  await house.ask('go');
  return (await house.facts()).flatMap((fact) =>
    fact.type === 'llm.request'
      ? [
          fact.payload.choice === undefined
            ? 'free'
            : `${fact.payload.choice.mode}${fact.payload.choice.name === undefined ? '' : ` ${fact.payload.choice.name}`} by ${fact.payload.rule ?? ''}`,
        ]
      : [],
  );
}

for (const [what, declared, override, expected] of [
  ['nothing', undefined, undefined, ['free', 'free', 'free']],
  [
    'a static choice',
    { mode: 'required' },
    undefined,
    ['required by static', 'required by static', 'required by static'],
  ],
  [
    'a sequence, whose last entry repeats',
    [{ mode: 'required' }, { mode: 'auto' }],
    undefined,
    ['required by sequence', 'auto by sequence', 'auto by sequence'],
  ],
  [
    'a named tool',
    { mode: 'tool', name: 'count' },
    undefined,
    ['tool count by static', 'tool count by static', 'tool count by static'],
  ],
  [
    'a named tool that is not there',
    { mode: 'tool', name: 'gone' },
    undefined,
    ['auto by fallback', 'auto by fallback', 'auto by fallback'],
  ],
  [
    'an override for once',
    { mode: 'auto' },
    { mode: 'required', duration: 'once' },
    ['auto by static', 'required by override', 'auto by static'],
  ],
  [
    'an override that stays',
    { mode: 'auto' },
    { mode: 'any', duration: 'sticky' },
    ['auto by static', 'required by override', 'required by override'],
  ],
  [
    'an override that names a tool',
    undefined,
    { mode: 'tool', toolName: 'count', duration: 'once' },
    ['free', 'tool count by override', 'free'],
  ],
] as const) {
  test(`tool choice: ${what}`, async () => {
    assert.deepEqual(await choices(declared as EffectiveAgent['toolChoice'], override), expected);
  });
}

test('an override for once is not used up by a call that a gate stopped', async () => {
  const house = aHouse({ tools: [aTool('count', () => 1)] });
  await house.post({ type: 'io.input', payload: { text: 'go', mode: 'message' } });
  let asked = 0;
  const modes: (string | undefined)[] = [];
  house.bus.before('before:llm.request', async ({ request }) => {
    modes.push(request.toolChoice?.mode);
    // Something else is said while the first request is judged, so that one is never sent.
    if (++asked === 1) {
      await house.post({ type: 'agent.tool_choice', payload: { mode: 'required', duration: 'once' } });
      await house.post({ type: 'io.input', payload: { text: 'and', mode: 'followup' } });
    }
    return undefined;
  });
  await house.drive();
  assert.deepEqual(modes, [undefined, 'required']);
});
