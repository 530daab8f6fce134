import { z } from 'zod';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { key, refuse, requiredKey } from '../../domain/bundle-key.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { Purse } from '../../kernel/ledger.ts';
import { definePlugin, type Host } from '../../kernel/plugin.ts';
import { deny, revise, type Questions, type Verdict } from '../../kernel/verdict.ts';

const ceiling = z.strictObject({
  of: requiredKey(z.enum(['run', 'user', 'tenant']), '`run`: with all runs below it.'),
  per: key(z.enum(['day', 'month']), 'In UTC. Of users and tenants; a run has one ceiling for all its time.', {
    otherwise: 'a day',
  }),
  tokens: key(z.int().min(1), 'Input and output, cached ones too.', { otherwise: 'any' }),
  money: key(z.number().min(0), 'US dollars.', { otherwise: 'any' }),
  on_exceed: key(
    z.enum(['block', 'warn', 'downgrade']),
    '`block`: set aside before each call, which is refused where it does not fit. `warn`: people and the model are told. `downgrade`: another model answers.',
    { default: 'block' },
  ),
  role: key(z.string().min(1), 'Of `downgrade`: the role whose model answers.', { otherwise: 'none' }),
});
export type Ceiling = z.infer<typeof ceiling>;

const config = z.strictObject({
  ceilings: requiredKey(z.array(ceiling).min(1), 'All of them count.').superRefine((ceilings, context) => {
    for (const [index, { of, per, tokens, money, on_exceed, role }] of ceilings.entries()) {
      if (tokens === undefined && money === undefined)
        refuse(context, { found: 'a ceiling of nothing', wanted: 'tokens, money or both' }, [index]);
      if (of === 'run' && per !== undefined)
        refuse(context, { found: `a run with a ceiling per ${per}`, wanted: 'of: user or of: tenant' }, [index, 'per']);
      if ((on_exceed === 'downgrade') !== (role !== undefined))
        refuse(context, { found: role ?? 'no role', wanted: 'a role exactly where it is downgraded' }, [index, 'role']);
    }
  }),
});

/** Before the gate that sets budgets aside: a smaller model needs less of them. */
const LATE = 950;

type Question = Questions['before:llm.request'];

/**
 * Ceilings of tokens and money. What blocks is set aside under `gate.budget`, with the server's own budgets and in the same
 * ledger; `treadle run` and `treadle chat` keep one in the data folder or database, too. A program that brings none counts
 * what the log tells. On a bus without any, a run's tokens are those of its log, and users and tenants have no ceiling.
 */
export const tokenBudget = definePlugin({
  id: 'gate.token_budget',
  about: 'Ceilings of tokens and money for runs, users and tenants: refuses, warns or takes a smaller model.',
  config,
  example: {
    ceilings: [
      { of: 'run', tokens: 200_000 },
      { of: 'user', per: 'day', money: 5, on_exceed: 'downgrade', role: 'quick' },
      { of: 'tenant', per: 'month', money: 500, on_exceed: 'warn' },
    ],
  },
  setup(host, { ceilings }) {
    const step = (asked: Question, place: number, ask: Ask): MaybePromise<Verdict<Question> | undefined> => {
      const one = ceilings[place];
      if (one === undefined) return undefined;
      const spent = spentOn(host, ask.conversation, one);
      const go = (given: Spent | undefined): MaybePromise<Verdict<Question> | undefined> => {
        const verdict = given === undefined || !isReached(one, given) ? undefined : exceeded(host, one, asked, ask);
        if (verdict?.verdict === 'deny') return verdict;
        const next = verdict?.verdict === 'revise' ? verdict.payload : asked;
        const rest = step(next, place + 1, ask);
        const joined = (later: Verdict<Question> | undefined): Verdict<Question> | undefined => later ?? verdict;
        return isPromise(rest) ? rest.then(joined) : joined(rest);
      };
      return isPromise(spent) ? spent.then(go) : go(spent);
    };
    host.before(
      'before:llm.request',
      (question, { conversation, agent }) => step(question, 0, { conversation, agent: agent?.id ?? '' }),
      { priority: LATE },
    );
  },
});

interface Ask {
  readonly conversation: Conversation;
  readonly agent: string;
}

interface Spent {
  readonly tokens: number;
  /** Undefined: nobody knows. */
  readonly money: string | undefined;
}

/** What counts towards a ceiling; undefined where somebody else sees to it, or nobody can. */
function spentOn({ spending }: Host, { id, spent }: Conversation, one: Ceiling): MaybePromise<Spent | undefined> {
  if (spending === undefined) return one.of === 'run' ? { tokens: spent.tokens, money: undefined } : undefined;
  if ((one.on_exceed ?? 'block') === 'block') return undefined;
  return spending.of(id, purseOf(one));
}

export function purseOf({ of, per = 'day' }: Ceiling): Purse {
  return of === 'run' ? { of } : { of, per };
}

function isReached({ tokens, money }: Ceiling, spent: Spent): boolean {
  if (tokens !== undefined && spent.tokens >= tokens) return true;
  return money !== undefined && spent.money !== undefined && Number(spent.money) >= money;
}

function exceeded(host: Host, one: Ceiling, asked: Question, { agent }: Ask): Verdict<Question> | undefined {
  const { of, tokens, money, on_exceed = 'block', role } = one;
  const per = of === 'run' ? '' : ` of a ${one.per ?? 'day'}`;
  const most = [...(tokens === undefined ? [] : [`${tokens} tokens`]), ...(money === undefined ? [] : [`$${money}`])];
  const why = `the ${of}'s budget${per}, ${most.join(' and ')}, is used up`;
  switch (on_exceed) {
    case 'block':
      return deny(why, 'max_tokens');
    case 'warn': {
      if (asked.iteration !== 1 || asked.attempt !== 1 || asked.purpose !== undefined) return undefined;
      return revise({ ...asked, notes: [...asked.notes, `${why}: be brief, and finish soon.`] }, why);
    }
    case 'downgrade': {
      const [smaller] = host.modelsOf?.(agent, role ?? '') ?? [];
      if (smaller === undefined || isSame(smaller, asked.request.model)) return undefined;
      const reason = `${why}: ${smaller.provider}/${smaller.model} answers`;
      return revise({ ...asked, request: { ...asked.request, model: smaller } }, reason);
    }
  }
}

function isSame(one: ModelRef, other: ModelRef): boolean {
  return one.provider === other.provider && one.model === other.model;
}
