import type { Json } from '../base/json.ts';

import { segment } from './address.ts';
import type { RunEvent } from './events.ts';
import { createFeed, type FeedOptions } from './feed.ts';
import { asAnswered, asSnapshot } from './shapes.ts';
import type { Transport } from './transport.ts';
import type { AllowScope, Answered, Attachment, RunEntry, RunLimits, RunRequest, Snapshot } from './types.ts';

/** What every call that changes something takes. */
export interface ChangeOptions {
  /** Made by the client for each call when absent. Give the one of an `outcome_unknown` to send that call again. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The answer to one request. Its id and digest say what it is about, so that nothing else can be answered by it. */
export type RunDecision = { readonly request: RunRequest; readonly note?: string | undefined } &
  /** `allow`: how far it reaches, as far as the request offers it. Absent: to this one action. */
  (
    | { readonly decision: 'allow'; readonly allow?: AllowScope | undefined }
    | { readonly decision: 'reject' }
    /** All arguments of the action: they replace, and never merge. */
    | { readonly decision: 'edit'; readonly arguments: Json }
    | { readonly decision: 'reply'; readonly text: string }
  );

/**
 * A run on a server. Iterating over it gives everything that happened, from the beginning or from a cursor, and then
 * what happens, until the run has ended and all of it was read. Whoever iterates may answer what it waits for.
 *
 * Leaving the loop loses nothing: the next loop goes on after the last event that was handed out.
 */
export interface Run extends AsyncIterable<RunEvent> {
  readonly id: string;
  /** Everything up to here was handed out: keep it to go on in another process. */
  readonly cursor: string | undefined;
  /** The newest form of every entry read so far. */
  entries(): readonly RunEntry[];
  /** The same as iterating, until a signal. */
  events(options?: { readonly signal?: AbortSignal }): AsyncGenerator<RunEvent, void>;
  snapshot(options?: Pick<ChangeOptions, 'signal'>): Promise<Snapshot>;
  /** `allow` reaches further than to this one action, where the request offers it. */
  allow(
    request: RunRequest,
    options?: ChangeOptions & { readonly note?: string; readonly allow?: AllowScope | undefined },
  ): Promise<Answered>;
  /** The agent reads the note, and goes on without the action. */
  reject(request: RunRequest, options?: ChangeOptions & { readonly note?: string }): Promise<Answered>;
  edit(request: RunRequest, args: Json, options?: ChangeOptions & { readonly note?: string }): Promise<Answered>;
  reply(request: RunRequest, text: string, options?: ChangeOptions): Promise<Answered>;
  /** Any of the open requests, in any order. */
  answer(decisions: readonly RunDecision[], options?: ChangeOptions): Promise<Answered>;
  /** Said before the next model call; to an ended run, it begins a new turn. */
  say(content: string, options?: SayOptions): Promise<Snapshot>;
  /** Said at once: what the agent was about to do is set aside. */
  steer(content: string, options?: SayOptions): Promise<Snapshot>;
  /** Asks the run and all runs below it to stop. */
  stop(options?: ChangeOptions): Promise<Snapshot>;
  /** Opens the turn again that was stopped or that a limit ended. Limits that are given stand from now on. */
  resume(options?: ChangeOptions & { readonly limits?: RunLimits | undefined }): Promise<Snapshot>;
  /** A new run whose past is a copy of this one's, up to the entry `at`. */
  fork(options?: ForkOptions): Promise<Run>;
  /** Out of the lists, or back into them. */
  archive(archived?: boolean, options?: ChangeOptions): Promise<Snapshot>;
  /** Gone, with all it holds. */
  remove(options?: ChangeOptions): Promise<void>;
}

export interface ForkOptions extends ChangeOptions {
  readonly at?: string | undefined;
  /** Said in place of the message at `at`, which has to begin a turn. */
  readonly content?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface SayOptions extends ChangeOptions {
  readonly attachments?: readonly Attachment[] | undefined;
}

export interface RunOptions extends Omit<FeedOptions, 'transport' | 'path'> {
  readonly transport: Transport;
  readonly nextKey: () => string;
}

export const RUNS = '/api/v1/runs';

export function createRun(id: string, options: RunOptions): Run {
  const { transport, nextKey } = options;
  const path = `${RUNS}/${segment(id)}`;
  const feed = createFeed({ ...options, path });

  async function change(verb: string, body: unknown, given: ChangeOptions = {}): Promise<unknown> {
    const { idempotencyKey = nextKey(), signal } = given;
    return transport.send({ method: 'POST', path: `${path}/${verb}`, body, idempotencyKey, signal });
  }

  async function moved(verb: string, body: unknown, given?: ChangeOptions): Promise<Snapshot> {
    const snapshot = asSnapshot(await change(verb, body, given));
    feed.atLeast(snapshot.version);
    return snapshot;
  }

  async function answer(decisions: readonly RunDecision[], given?: ChangeOptions): Promise<Answered> {
    const body = decisions.map(({ request, ...rest }) => ({
      request: request.id,
      run: request.run,
      digest: request.digest,
      ...rest,
    }));
    const answered = asAnswered(await change('answers', body, given));
    feed.atLeast(answered.version);
    return answered;
  }

  function say(mode: 'followup' | 'steer', content: string, given: SayOptions = {}): Promise<Snapshot> {
    const { attachments } = given;
    return moved('messages', { content, mode, ...(attachments !== undefined && { attachments }) }, given);
  }

  return {
    id,
    get cursor() {
      return feed.cursor();
    },
    entries: () => feed.entries(),
    events: ({ signal } = {}) => feed.events(signal),
    [Symbol.asyncIterator]: () => feed.events(),
    snapshot: async ({ signal } = {}) => asSnapshot(await transport.send({ method: 'GET', path, signal })),
    allow: (request, given = {}) => {
      const { allow } = given;
      return answer([{ request, decision: 'allow', ...noted(given), ...(allow !== undefined && { allow }) }], given);
    },
    reject: (request, given = {}) => answer([{ request, decision: 'reject', ...noted(given) }], given),
    edit: (request, args, given = {}) =>
      answer([{ request, decision: 'edit', arguments: args, ...noted(given) }], given),
    reply: (request, text, given) => answer([{ request, decision: 'reply', text }], given),
    answer,
    say: (content, given) => say('followup', content, given),
    steer: (content, given) => say('steer', content, given),
    stop: (given) => moved('stop', {}, given),
    resume: (given) => moved('resume', given?.limits === undefined ? {} : { limits: given.limits }, given),
    async fork({ at, content, metadata, ...given } = {}) {
      const body = {
        ...(at !== undefined && { at }),
        ...(content !== undefined && { content }),
        ...(metadata !== undefined && { metadata }),
      };
      const copy = asSnapshot(await change('fork', body, given));
      return createRun(copy.id, { ...options, cursor: undefined });
    },
    archive: (archived = true, given) => moved('archive', { archived }, given),
    async remove({ idempotencyKey = nextKey(), signal } = {}) {
      await transport.send({ method: 'DELETE', path, idempotencyKey, signal });
    },
  };
}

function noted({ note }: { readonly note?: string | undefined }): { readonly note?: string } {
  return note === undefined ? {} : { note };
}
