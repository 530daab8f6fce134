import fc from 'fast-check';
import type { Draft, Fact } from '../../src/domain/event.ts';
import { placed } from '../../src/adapters/stores/fact.ts';
import { anAgent } from '../support/house.ts';

/** What may happen next, if it can; `pick` chooses among what it can happen to. */
type Move =
  | 'say'
  | 'steer'
  | 'start'
  | 'call'
  | 'fail'
  | 'ask'
  | 'think'
  | 'hold'
  | 'answer'
  | 'expire'
  | 'verdict'
  | 'begin'
  | 'observe'
  | 'output'
  | 'end'
  | 'restart'
  | 'cancel'
  | 'resume'
  | 'stray';

const MOVES: readonly Move[] = [
  'say',
  'steer',
  'start',
  'call',
  'fail',
  'ask',
  'think',
  'hold',
  'answer',
  'expire',
  'verdict',
  'begin',
  'observe',
  'output',
  'end',
  'restart',
  'cancel',
  'resume',
  'stray',
];

/** Those that make actions and change them come more often, or hardly any would. */
const OFTEN: readonly Move[] = ['start', 'call', 'ask', 'hold', 'answer', 'begin', 'observe', 'verdict'];

/** A log in which entries come about, change, are held, answered and settled, in any order in which they can. */
export const someLog = (maxLength: number): fc.Arbitrary<readonly Fact[]> =>
  fc
    .array(fc.tuple(fc.constantFrom(...MOVES, ...OFTEN, ...OFTEN, ...OFTEN), fc.nat(7)), {
      minLength: Math.floor(maxLength / 4),
      maxLength,
      size: 'max',
    })
    .map((moves) => {
      const drafts: Draft[] = [];
      const story: Story = { turn: 0, open: false, iteration: 0, calling: false, actions: [], requests: [] };
      for (const [move, pick] of moves) drafts.push(...told(story, move, pick));
      return drafts.map((draft, index) => placed('c1', 'main', index + 1, (index + 1) * 10, draft));
    });

interface Story {
  turn: number;
  open: boolean;
  iteration: number;
  calling: boolean;
  actions: string[];
  requests: string[];
}

const agent = anAgent([]);
const model = { provider: 'scripted', model: 'scripted' };

function told(story: Story, move: Move, pick: number): Draft[] {
  const turnId = `t${story.turn}`;
  const place = { turnId, iteration: story.iteration };
  const action = story.actions[pick % Math.max(1, story.actions.length)];
  const request = story.requests[pick % Math.max(1, story.requests.length)];
  switch (move) {
    case 'say':
      return [{ type: 'io.input', payload: { text: `word ${pick}`, mode: 'message' } }];
    case 'steer':
      return [{ type: 'io.input', payload: { text: `no, ${pick}`, mode: 'steer' } }];
    case 'start':
      if (story.open) return [];
      Object.assign(story, {
        turn: story.turn + 1,
        open: true,
        iteration: 0,
        calling: false,
        actions: [],
        requests: [],
      });
      return [{ type: 'agent.turn.start', payload: { agent, digest: 'd' }, turnId: `t${story.turn}` }];
    case 'restart':
      return story.open ? [{ type: 'agent.turn.start', payload: { digest: 'd', resumed: true }, turnId }] : [];
    case 'call': {
      if (!story.open) return [];
      if (!story.calling) story.iteration++;
      const attempt = story.calling ? 2 : 1;
      story.calling = true;
      return [{ type: 'llm.request', payload: { model, role: 'r', attempt }, turnId, iteration: story.iteration }];
    }
    case 'think':
      return story.calling ? [{ type: 'thinking.step', payload: { text: `hm ${pick}` }, ...place }] : [];
    case 'fail':
      if (!story.calling) return [];
      return [
        {
          type: 'llm.response',
          payload: {
            content: [],
            stop: 'error',
            usage: {},
            attempt: 1,
            failure: { class: 'server', message: 'broken' },
          },
          ...place,
        },
      ];
    case 'ask': {
      if (!story.calling) return [];
      story.calling = false;
      const ids = Array.from({ length: 1 + (pick % 3) }, (_, index) => `${turnId}-${story.iteration}-${index + 1}`);
      story.actions.push(...ids);
      const actions = ids.map((id) => ({ type: 'action' as const, id, name: 'mail', input: '{"to":"Bo"}' }));
      const words = pick % 2 === 0 ? [{ type: 'text' as const, text: `I will ${pick}` }] : [];
      return [
        {
          type: 'llm.response',
          payload: { content: [...words, ...actions], stop: 'actions', usage: {}, attempt: 1 },
          ...place,
        },
      ];
    }
    case 'hold': {
      if (action === undefined) return [];
      const id = `${action}-a${story.requests.length + 1}`;
      story.requests.push(id);
      return [
        { type: 'hitl.requested', payload: { request: id, kind: 'action', question: 'May it?', action }, ...place },
      ];
    }
    case 'answer':
      if (request === undefined) return [];
      return [
        { type: 'hitl.responded', payload: { request, decision: 'allow', by: 'ana', note: `${pick}` }, ...place },
      ];
    case 'expire':
      return request === undefined ? [] : [{ type: 'hitl.cancel', payload: { request, reason: 'expired' }, ...place }];
    case 'verdict':
      return [
        {
          type: 'gate.verdict',
          payload: {
            question: 'before:tool.invoke',
            gate: 'g',
            verdict: 'hold',
            ...(action !== undefined && { action }),
          },
          ...place,
        },
      ];
    case 'begin':
      if (action === undefined) return [];
      return [
        {
          type: 'tool.invoke',
          payload: { action, name: 'mail', arguments: { to: `${pick}` }, argumentHash: 'h', effect: 'once' },
          ...place,
        },
      ];
    case 'observe':
      return action === undefined
        ? []
        : [{ type: 'tool.result', payload: { action, outcome: 'ok', value: pick }, ...place }];
    case 'output':
      return story.open ? [{ type: 'io.output', payload: { text: `Done ${pick}.` }, ...place }] : [];
    case 'end':
      if (!story.open) return [];
      Object.assign(story, { open: false, calling: false, actions: [], requests: [] });
      return [
        {
          type: 'agent.turn.end',
          payload: { status: 'stopped', stop: 'cancelled', iterations: story.iteration, toolCalls: 0, usage: {} },
          turnId,
        },
      ];
    case 'cancel':
      return [{ type: 'cancel.request', payload: { by: 'ana' }, turnId }];
    case 'resume':
      if (story.open || story.turn === 0) return [];
      Object.assign(story, { open: true, iteration: story.iteration + 1 });
      return [{ type: 'cancel.resume', payload: { by: 'ana' }, turnId }];
    case 'stray':
      return [{ type: 'selection.applied', payload: { digest: `${pick}` } }];
  }
}
