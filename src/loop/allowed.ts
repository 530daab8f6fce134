import { isPromise, type MaybePromise } from '../base/promise.ts';
import { covering, STANDING_SCOPES, type Allowance, type AllowanceOffer } from '../domain/allowance.ts';
import { toolDigest, type ToolDefinition } from '../domain/tool.ts';
import type { StoredAllowance } from '../kernel/choices.ts';
import type { Judgement } from '../kernel/verdict.ts';
import { openTurn, type Work } from './work.ts';

/** What a person may allow beyond this one action: what every gate that holds it lets them. */
export function offerOf(
  { ports }: Work,
  tool: ToolDefinition,
  holds: Judgement<unknown>['holds'],
): AllowanceOffer | undefined {
  const covers: AllowanceOffer['covers'] = [];
  const about = new Set<string>();
  let scopes = STANDING_SCOPES.filter((scope) => scope !== 'always' || ports.allowances !== undefined);
  for (const { gate, remember } of holds) {
    if (remember === undefined) return undefined;
    scopes = scopes.filter((scope) => remember.scopes.includes(scope));
    covers.push({ gate, subject: remember.subject });
    about.add(remember.about);
  }
  if (scopes.length === 0) return undefined;
  return { scopes, tool: tool.name, described: toolDigest(tool), covers, about: [...about].join('; ') };
}

/** The allowances that stand for a person's answer; undefined when somebody has to be asked. */
export function allowedBefore(work: Work, offer: AllowanceOffer): MaybePromise<readonly string[] | undefined> {
  const { allowances } = work.recorder.conversation;
  const covered = idsOf(covering(offer, allowances));
  if (covered !== undefined || work.ports.allowances === undefined) return covered;
  const withStored = (stored: readonly StoredAllowance[]): readonly string[] | undefined => {
    const { id: agent, bundle } = openTurn(work).agent;
    const mine = stored.filter((one) => one.agent === agent && one.bundle === bundle);
    return idsOf(covering(offer, [...allowances, ...mine]));
  };
  // What cannot be read allows nothing: a person is asked.
  const unread = (error: unknown): undefined => {
    work.ports.logger.warn('what its user has allowed could not be read', { conversation: work.meta.id, error });
  };
  try {
    const read = work.ports.allowances.allowancesOf(work.meta);
    return isPromise(read) ? read.then(withStored).catch(unread) : withStored(read);
  } catch (error) {
    unread(error);
    return undefined;
  }
}

function idsOf(found: readonly Allowance[] | undefined): readonly string[] | undefined {
  return found?.map((one) => one.id);
}
