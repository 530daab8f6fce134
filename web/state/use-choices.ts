import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/calls.ts';
import type { ChangeSelection, ConsequenceReply, Decision } from '../api/types.ts';
import { queries } from './queries.ts';

/** A change that costs something, and waits for the person's word. */
export interface CostlyChange {
  readonly change: ChangeSelection;
  readonly reply: ConsequenceReply;
}

/**
 * What the person may choose of an agent, and what becomes of a choice.
 *
 * A change that is free is made at once; one that would make a warm cache cold is asked about first, with its price. What
 * the server did not take is not shown as done.
 */
export function useChoices(agent: string, conversation: string | undefined, isWanted: boolean) {
  const queryKey = ['capabilities', agent, conversation];
  const capabilities = useQuery({
    queryKey,
    queryFn: () => api.capabilities(agent, conversation),
    enabled: isWanted,
  });
  const [costly, setCostly] = useState<CostlyChange>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The change was not taken.');
    } finally {
      await queries.invalidateQueries({ queryKey: ['capabilities', agent] });
      setBusy(false);
    }
  };
  const scoped = (change: ChangeSelection): ChangeSelection =>
    conversation === undefined ? change : { ...change, conversation };

  return {
    capabilities,
    costly,
    problem,
    isBusy,
    change: (change: ChangeSelection) =>
      attempt(async () => {
        const reply = await api.consequence(agent, scoped(change));
        const isCostly =
          reply.choices.length > 0 &&
          reply.parts.some(({ policy, consequence }) => policy === 'confirm' && consequence.kind !== 'free');
        if (isCostly) setCostly({ change, reply });
        else await api.changeSelection(agent, scoped(change));
      }),
    decide: (decision: Decision, isRemembered: boolean) =>
      attempt(async () => {
        if (costly === undefined) return;
        const classes = costly.reply.parts.map((part) => [part.class, decision] as const);
        await api.changeSelection(agent, {
          ...scoped(costly.change),
          decision,
          ...(isRemembered ? { cache_policy: Object.fromEntries(classes) } : {}),
        });
        setCostly(undefined);
      }),
    leave: () => {
      setCostly(undefined);
    },
    dropPending: () =>
      attempt(async () => {
        await api.changeSelection(agent, scoped({ drop_pending: true }));
      }),
  };
}
