import { z } from 'zod';
import { digest } from '../../base/digest.ts';
import { toJson, type Json } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import { key, refuse, requiredKey } from '../../domain/bundle-key.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import { definePlugin, type Stance } from '../../kernel/plugin.ts';
import { deny, hold, type Deny, type Hold } from '../../kernel/verdict.ts';
import { at, isAbout, isAboutAll, isOf, policyRule, whenInWords, type PolicyRule } from './policy-rule.ts';
import { shownArguments } from './shown-arguments.ts';

const config = z
  .strictObject({
    rules: requiredKey(z.array(policyRule).min(1), 'The first rule that is about an action decides.'),
    otherwise: key(z.enum(['allow', 'ask', 'deny']), 'What is done about an action that no rule is about.', {
      default: 'allow',
    }),
    expires_in_ms: key(z.int().min(1_000), 'Milliseconds until no answer becomes a denial.', {
      otherwise: 'the question waits for ever',
    }),
  })
  .superRefine(({ rules }, context) => {
    const last = rules.findIndex(isAboutAll);
    if (last < 0 || last === rules.length - 1) return;
    const wanted = 'the rule that is about every action to be the last';
    refuse(context, { found: 'a rule that is never reached', wanted }, ['rules', last + 1]);
  });

/**
 * Decides about actions by rules on their tool, arguments, effect and on what the run has cost. The first rule that is
 * about an action counts, so an exception stands before what it is an exception from.
 *
 * `allow` means that this gate has nothing against it: a tool that is declared to ask still asks. What a person edits is an
 * action like any other, and is judged again.
 */
export const approvalPolicy = definePlugin({
  id: 'gate.approval_policy',
  about: 'Allows, asks about or refuses actions by rules on tool, arguments, effect and cost.',
  config,
  example: {
    rules: [
      { tool: 'mail_*', when: { to: { glob: '*@example.org' } }, then: 'allow' },
      { tool: 'mail_*', then: 'ask', remember_by: ['to'] },
      {
        tool: 'order',
        when: { boxes: { over: 100 } },
        then: 'deny',
        reason: 'Orders of more than 100 boxes are made by hand.',
      },
      { effect: 'once', cost_over: 5, then: 'ask', remember: [] },
    ],
  },
  tools: ({ rules }) => rules.flatMap(({ tool }) => tool ?? []),
  stances({ rules, otherwise = 'allow' }, tool, written) {
    const own = rules.flatMap((rule, place): readonly Stance[] => {
      if (!isOf(rule, tool)) return [];
      const at = ['rules', place] as const;
      const when = whenInWords(rule, (within, text) => written([...at, ...within], text));
      const why = rule.reason === undefined ? undefined : written([...at, 'reason'], rule.reason);
      return [{ then: rule.then, when, why, at }];
    });
    const last = own.findIndex(({ when }) => when === undefined);
    const all: readonly Stance[] = last < 0 ? [...own, { then: otherwise, at: ['otherwise'] }] : own.slice(0, last + 1);
    // An exception is one of something that comes after it.
    return all.slice(0, all.findLastIndex(({ then }) => then !== 'allow') + 1);
  },
  setup(host, { rules, otherwise = 'allow', expires_in_ms: expiresInMs }) {
    const ids = new Map<PolicyRule, string>(rules.map((rule) => [rule, digest(toJson(rule))]));

    function decided(rule: PolicyRule, tool: ToolDefinition, given: Json): Deny | Hold | undefined {
      switch (rule.then) {
        case 'allow':
          return undefined;
        case 'deny':
          return deny(
            rule.reason ?? `the policy of this agent refuses ${tool.name} ${shownArguments(given)}`,
            'policy',
          );
        case 'ask': {
          const what = `Allow ${tool.name} ${shownArguments(given)}?`;
          const { remember: scopes = STANDING_SCOPES, remember_by: paths = [] } = rule;
          const bound = Object.fromEntries(paths.map((path) => [path, at(given, path) ?? null]));
          const by = paths.map((path) => `${path} ${shownArguments(bound[path] ?? null)}`).join(', ');
          const about = `every run of ${tool.name}${by === '' ? '' : ` with ${by}`}`;
          return hold(rule.reason === undefined ? what : `${rule.reason}\n${what}`, {
            ...(expiresInMs !== undefined && { expiresInMs }),
            ...(scopes.length > 0 && {
              remember: { scopes, subject: { rule: ids.get(rule) ?? '', tool: tool.name, bound }, about },
            }),
          });
        }
      }
    }

    host.before('before:tool.invoke', ({ tool, arguments: given }, { conversation }) => {
      const decide = (from: number): MaybePromise<Deny | Hold | undefined> => {
        for (let place = from; place < rules.length; place++) {
          const rule = rules[place];
          if (rule === undefined || !isAbout(rule, { tool, arguments: given })) continue;
          const { cost_over: most } = rule;
          if (most === undefined) return decided(rule, tool, given);
          const cost = host.spending?.costOf(conversation.id);
          const next = place + 1;
          const withCost = (amount: string | undefined): MaybePromise<Deny | Hold | undefined> =>
            amount === undefined || Number(amount) > most ? decided(rule, tool, given) : decide(next);
          return isPromise(cost) ? cost.then(withCost) : withCost(cost);
        }
        return decided({ then: otherwise }, tool, given);
      };
      return decide(0);
    });
  },
});
