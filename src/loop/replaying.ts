import type { Inner, InnerAction } from '../domain/conversation.ts';
import type { Observation } from '../domain/tool.ts';
import { observation } from './prepared.ts';
import type { Ran } from './run-tool.ts';

export interface Replaying {
  /** What a call gave in an earlier run. `new` once all of those were given again, and it is not one of them. */
  readonly again: (call: Pick<InnerAction, 'id' | 'call' | 'name'>) => Promise<Observation | 'parked' | 'new'>;
  readonly isReplaying: () => boolean;
  /** The program waits: what it has not asked for by now it does not ask for. */
  readonly onIdle: () => void;
  readonly counts: (ran: Ran) => Ran;
}

/**
 * Gives a program what its calls gave before, one after the other as they ended then: being told the same in the same
 * order, it does the same. No call is made anew before that is done. One that differs shows that the program is not what it
 * was, such as after an update, and ends the run of it: nothing happens then that nobody has foreseen.
 */
export function replaying({ actions, told }: Inner): Replaying {
  const due = new Map<string, (told: Observation | 'parked') => void>();
  const waiting: (() => void)[] = [];
  const seen = new Set<string>();
  let next = 0;
  let problem: string | undefined;

  const giveOn = (): void => {
    for (let id = told[next]; id !== undefined; id = told[next]) {
      const give = due.get(id);
      const known = actions.find((one) => one.id === id)?.observation;
      if (give === undefined || known === undefined) return;
      next++;
      due.delete(id);
      give(known);
    }
    for (const go of waiting.splice(0)) go();
  };
  const differ = (why: string): void => {
    problem ??= why;
    for (const give of due.values()) give('parked');
    for (const go of waiting.splice(0)) go();
  };
  const isReplaying = (): boolean => next < told.length;

  return {
    isReplaying,
    async again({ id, call, name }) {
      const known = actions.find((one) => one.id === id);
      seen.add(id);
      if (problem !== undefined) return 'parked';
      if (known !== undefined && known.call !== call) {
        differ(
          `its call ${id} was ${known.name ?? 'another one'} and is ${name ?? 'another one'} with other arguments now`,
        );
        return 'parked';
      }
      if (known?.observation !== undefined) {
        return new Promise((resolve) => {
          due.set(id, resolve);
          giveOn();
        });
      }
      if (isReplaying()) await new Promise<void>((resolve) => waiting.push(resolve));
      return hasDiffered() ? 'parked' : 'new';
    },
    onIdle() {
      if (isReplaying()) differ(`it did not ask again for ${told[next] ?? 'what it had asked for'}`);
    },
    counts(ran) {
      const missed = actions.find(({ id }) => !seen.has(id));
      const isOver = ran.type === 'observed' && ran.observation.outcome === 'ok';
      if (problem === undefined && (missed === undefined || !isOver)) return ran;
      const why = problem ?? `it did not ask again for ${missed?.id ?? ''}`;
      return { type: 'observed', observation: observation('failed', 'diverged', diverged(why, actions)) };
    },
  };

  function hasDiffered(): boolean {
    return problem !== undefined;
  }
}

function diverged(why: string, actions: readonly InnerAction[]): string {
  const done = actions.flatMap(({ name, observation: known }) => (known?.outcome === 'ok' ? [name ?? 'a tool'] : []));
  const made = done.length === 0 ? 'Nothing of it had happened' : `What had happened by then: ${done.join(', ')}`;
  return `The code had to be run again from its start and did not do the same: ${why}. It was ended there. ${made}. Look at how things are before you do any of it again.`;
}
