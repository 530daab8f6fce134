import type { AgentDetails, LoggedFact } from '../api/operate-types.ts';

/** A word that a gate or a person had on something. */
export interface Verdict {
  readonly seq: number;
  readonly at: number;
  /** What it is about: the tool, or the question. */
  readonly about: string;
  readonly question: string;
  readonly who: string;
  readonly isPerson: boolean;
  /** Its place among the gates that are asked the same, lower first; unknown for people. */
  readonly priority: number | undefined;
  readonly said: string;
  readonly tone: 'bad' | 'wait' | 'good' | 'plain';
  readonly why: string;
}

/** Every verdict of gates and every word of people, in the order in which they were given. */
export function verdictsOf(facts: readonly LoggedFact[], plugins: AgentDetails['plugins'] = []): readonly Verdict[] {
  const names = new Map<string, string>();
  const asked = new Map<string, { readonly about: string; readonly kind: string }>();
  return facts.flatMap((fact): readonly Verdict[] => {
    const payload = read(fact.payload);
    switch (fact.type) {
      case 'llm.response':
        for (const block of list(fact.payload, 'content')) {
          const action = read(block);
          if (action('type') === 'action') names.set(action('id'), action('name'));
        }
        return [];
      case 'gate.verdict': {
        const question = payload('question');
        const verdict = payload('verdict');
        return [
          {
            seq: fact.seq,
            at: fact.at,
            about: names.get(payload('action')) ?? ABOUT[question] ?? question,
            question,
            who: payload('gate'),
            isPerson: false,
            priority: plugins.find(({ id }) => id === payload('gate'))?.judges.find((one) => one.question === question)
              ?.priority,
            said: verdict,
            tone: verdict === 'deny' ? 'bad' : verdict === 'hold' ? 'wait' : 'plain',
            why: [payload('reason'), payload('code')].filter((part) => part !== '').join(' · '),
          },
        ];
      }
      case 'hitl.requested':
        asked.set(payload('request'), {
          about: names.get(payload('action')) ?? (payload('kind') === 'plan' ? 'the plan' : 'a question'),
          kind: payload('kind'),
        });
        return [];
      case 'hitl.responded': {
        const decision = payload('decision');
        return [
          {
            seq: fact.seq,
            at: fact.at,
            about: asked.get(payload('request'))?.about ?? 'a question',
            question: 'approval',
            who: payload('by'),
            isPerson: true,
            priority: undefined,
            said: decision,
            tone: decision === 'reject' ? 'bad' : decision === 'reply' ? 'plain' : 'good',
            why: payload('note') || payload('text'),
          },
        ];
      }
      case 'hitl.cancel':
        return [
          {
            seq: fact.seq,
            at: fact.at,
            about: asked.get(payload('request'))?.about ?? 'a question',
            question: 'approval',
            who: 'nobody',
            isPerson: true,
            priority: undefined,
            said: 'taken back',
            tone: 'plain',
            why: payload('reason'),
          },
        ];
      default:
        return [];
    }
  });
}

const ABOUT: Readonly<Record<string, string>> = {
  'before:llm.request': 'a model call',
  'before:io.input': 'the message',
  'before:io.output': 'the answer',
};

function read(value: unknown): (name: string) => string {
  return (name) => {
    const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    return typeof found === 'string' ? found : '';
  };
}

function list(value: unknown, name: string): readonly unknown[] {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}
