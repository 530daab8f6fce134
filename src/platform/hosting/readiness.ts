import type { Clock, Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Log } from '../../kernel/log.ts';

/** For so long after a fact that found no room nobody is sent here, unless one finds room before. */
const FULL_MS = 30_000;

export interface Readiness {
  /** The log, with an ear for what becomes of facts that are stated in it. */
  readonly log: Log;
  /** Rejects while requests cannot be served: the log does not answer, or has no room. */
  readonly check: () => Promise<void>;
}

/** A full log can be read, so reading alone would call it ready. Nothing is written to find out. */
export function withReadiness(log: Log, clock: Clock): Readiness {
  let full: { readonly problem: TreadleError; readonly at: Instant } | undefined;

  function heard<G extends readonly unknown[], R>(
    state: (...given: G) => MaybePromise<R>,
    foundRoom: (result: R) => boolean,
  ): (...given: G) => MaybePromise<R> {
    const done = (result: R): R => {
      if (foundRoom(result)) full = undefined;
      return result;
    };
    const failed = (problem: unknown): never => {
      if (TreadleError.is(problem) && problem.code === 'log_full') full = { problem, at: clock.now() };
      throw problem;
    };
    return (...given) => {
      try {
        const result = state(...given);
        return isPromise(result) ? result.then(done, failed) : done(result);
      } catch (problem) {
        return failed(problem);
      }
    };
  }

  return {
    log: {
      ...log,
      append: heard(log.append.bind(log), (result) => result.ok && result.facts.length > 0),
      post: heard(log.post.bind(log), ({ fresh }) => fresh),
    },
    async check() {
      await log.list({ limit: 1 });
      if (full !== undefined && clock.now() < full.at + FULL_MS) throw full.problem;
    },
  };
}
