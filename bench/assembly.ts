// What assembly alone costs, of the agent that a large house would have: 200 tools, and a conversation of 500 entries. Only
// Treadle has these parts, so there is nobody to compare them with.
import { announce } from '../src/assembly/announce.ts';
import { withCheckpoints } from '../src/assembly/cache.ts';
import { allocate } from '../src/assembly/checkpoints.ts';
import { effectiveAgentOf, type DeclaredAgent } from '../src/assembly/effective.ts';
import { render } from '../src/assembly/render.ts';
import { endsOf } from '../src/assembly/transcript.ts';
import { cacheProfile } from '../src/domain/cache-profile.ts';
import type { Conversation } from '../src/domain/conversation.ts';
import type { Draft, Fact } from '../src/domain/event.ts';
import { apply, fold } from '../src/domain/fold.ts';
import type { GrantedTool } from '../src/domain/grant.ts';
import { defaultLimits } from '../src/domain/limits.ts';
import { emptySelection, readSelection } from '../src/domain/selection.ts';

const TOOLS = 200;
const ENTRIES = 500;
const USERS = 10_000;
const model = { provider: 'anthropic', model: 'claude-sonnet-4-5' };

const tools = Array.from({ length: TOOLS }, (_, index): GrantedTool => {
  const own = `tool_${String(index).padStart(3, '0')}`;
  const property = { type: 'string', description: 'What it is about, in a few words.' };
  const inputSchema = { type: 'object', properties: { subject: property, place: property }, required: ['subject'] };
  const group = `group_${index % 20}`;
  const description = `Looks after the ${index}. thing of the house and says what came of it.`;
  return { definition: { name: own, description, inputSchema, effect: 'read', group }, own, locked: false };
});

const declared: DeclaredAgent = {
  bundle: 'bench@1',
  revision: 'r1',
  role: 'balanced',
  frame: {
    id: 'main',
    grammar: 'native',
    limits: defaultLimits,
    onLimit: 'end',
    renderThinking: true,
    systemPrompt: 'You look after a large house. '.repeat(50),
    additional: '',
  },
  grant: { tools, unavailable: [], supportedModels: [], models: [model] },
};

/** Rounds of each number, in microseconds, by metric and subject. */
export function measureAssembly(rounds: number): Map<string, Map<string, number[]>> {
  const measured = new Map<string, Map<string, number[]>>();
  const put = (metric: string, value: number): void => {
    const known = measured.get(metric)?.get('Treadle') ?? [];
    measured.set(metric, new Map([['Treadle', [...known, value]]]));
  };
  for (let round = 0; round <= rounds; round++) {
    const numbers = { narrow: narrowing(), ...calls() };
    if (round > 0) for (const [metric, us] of Object.entries(numbers)) put(metric, us); // the first one warms up
  }
  return measured;
}

/** The records of so many users, each another one, read and narrowed. */
function narrowing(): number {
  const records = Array.from({ length: USERS }, (_, user) => ({
    schema_version: 1,
    disabled: { tools: { [`group_${user % 20}`]: true, [`group_${(user + 7) % 20}`]: [`tool_${user % TOOLS}`] } },
  }));
  const started = performance.now();
  for (const record of records) {
    const { agent } = effectiveAgentOf(declared, readSelection(record).selection, {});
    if (agent.tools.length >= TOOLS) throw new Error('nothing was taken away');
  }
  return ((performance.now() - started) * 1_000) / USERS;
}

/** One call after the other in a long conversation: the prompt, its digests and its markers; and the allocator by itself. */
function calls(): { readonly call: number; readonly allocate: number } {
  const agent = effectiveAgentOf(declared, emptySelection, {}).agent;
  let seq = 0;
  const stated = (draft: Draft): Fact => {
    const { key: _, ...fact } = draft;
    seq++;
    return { ...fact, seq, id: `c:${seq}`, v: 1, at: seq * 1_000, conversationId: 'c', agentPath: 'main' };
  };
  const facts: Fact[] = [];
  for (let turn = 1; facts.length < ENTRIES - 20; turn++) {
    facts.push(
      stated({ type: 'io.input', payload: { text: `Look after thing ${turn}.`, mode: 'message' } }),
      stated({ type: 'agent.turn.start', payload: { agent, digest: 'd' } }),
      ...iteration(turn, 1, true).map(stated),
      ...iteration(turn, 2, false).map(stated),
      stated({
        type: 'agent.turn.end',
        payload: { status: 'completed', stop: 'finished', iterations: 2, toolCalls: 1, usage: {} },
      }),
    );
  }
  let talk: Conversation = fold('c', 'main', facts);
  const open = talk.turns.length + 1;
  talk = apply(talk, stated({ type: 'io.input', payload: { text: 'And now?', mode: 'message' } }));
  talk = apply(talk, stated({ type: 'agent.turn.start', payload: { digest: 'd' } }));
  const count = 200;
  let spent = 0;
  let allocating = 0;
  for (let number = 1; number <= count; number++) {
    const { turn } = talk;
    if (turn === undefined) throw new Error('no turn is open');
    const started = performance.now();
    const request = render(talk, turn, { model, announce: announce(talk, seq * 1_000), toolChoice: undefined });
    const made = withCheckpoints(talk, turn, request, seq * 1_000, false);
    spent += performance.now() - started;
    if (made.request.checkpoints === undefined) throw new Error('no marker was placed');
    const before = performance.now();
    allocate(request, endsOf(talk, model), cacheProfile(model));
    allocating += performance.now() - before;
    for (const draft of iteration(open, number, true)) talk = apply(talk, stated(draft));
  }
  return { call: (spent * 1_000) / count, allocate: (allocating * 1_000) / count };
}

/** A model call with one action and its result, or one that answers. */
function iteration(turn: number, number: number, acts: boolean): Draft[] {
  const place = { turnId: `t${turn}`, iteration: number };
  const id = `t${turn}-${number}-1`;
  const usage = { input: 100, cacheRead: 9_000, output: 20 };
  const request: Draft = {
    ...place,
    type: 'llm.request',
    payload: { model: { provider: model.provider, model: model.model }, role: 'balanced', attempt: 1 },
  };
  if (!acts) {
    const content = [{ type: 'text' as const, text: 'It is looked after.' }];
    return [request, { ...place, type: 'llm.response', payload: { content, stop: 'finished', usage, attempt: 1 } }];
  }
  const input = '{"subject":"the roof"}';
  const content = [{ type: 'action' as const, id, name: 'tool_001', input }];
  const args = { subject: 'the roof' };
  return [
    request,
    { ...place, type: 'llm.response', payload: { content, stop: 'actions', usage, attempt: 1 } },
    {
      ...place,
      type: 'tool.invoke',
      payload: { action: id, name: 'tool_001', arguments: args, argumentHash: 'h', effect: 'read' },
    },
    { ...place, type: 'tool.result', payload: { action: id, outcome: 'ok', value: 'It has a leak above the stairs.' } },
  ];
}
