import type { Clock, Instant } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { Logger } from '../../kernel/logger.ts';
import { next } from '../../loop/next.ts';
import type { LoopPorts } from '../../loop/work.ts';
import type { ChosenModel } from '../models/auto-model.ts';
import type { LoadedBundle } from './load.ts';
import type { Running } from './plugin-pool.ts';
import { stampOf, watchBundle } from './watch-bundle.ts';
import type { DrivenPorts } from '../hosting/worker.ts';

/** A bundle at one time, with all that its turns are driven with. */
export interface Edition {
  readonly bundle: LoadedBundle;
  /** What `auto` stands for in it. */
  readonly model: ChosenModel | undefined;
  /** Its plugins, and the bus as it is for them. */
  readonly running: Running;
  readonly ports: LoopPorts;
}

/** An edit that does not count, and why. */
export interface RefusedEdit {
  readonly at: Instant;
  /** `wrong`: the file has mistakes. `restart`: it asks for what a running process cannot take over. */
  readonly kind: 'wrong' | 'restart';
  readonly why: string;
  readonly hint: string;
}

export interface ReloadOptions {
  readonly first: Edition;
  /** Loads the file as it is now, and sets up what it needs. Rejects when it is wrong; nothing of it is left then. */
  readonly load: () => Promise<LoadedBundle>;
  readonly open: (bundle: LoadedBundle) => Promise<Edition>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The newest edition of a bundle that is right, and those before it that turns still work with. */
export interface Reload {
  readonly current: Edition;
  /** The last edit, where it does not count. */
  readonly refused: RefusedEdit | undefined;
  /**
   * A turn is driven under the edition that it began with for as long as it works. One that has waited for somebody goes on
   * under the newest one, and so does every turn that another process began.
   */
  portsFor(conversationId: string): DrivenPorts;
  /** Looks at the file. `kept`: it is wrong, or asks for more than a running process can give; `refused` says why. */
  now(): Promise<'same' | 'new' | 'kept'>;
  /** The same for whoever asks before each turn: nothing is read where no file was saved since. Skills are not looked for. */
  ifSaved(): Promise<'same' | 'new' | 'kept'>;
  /** Looks whenever something of the bundle is saved. The returned function ends it. */
  watch(): () => void;
  close(): Promise<void>;
}

/** Editions before the newest one that are kept for turns which begin to work again. What works keeps its own in any case. */
const MOST_EDITIONS = 8;

interface Held {
  readonly edition: Edition;
  readonly ports: LoopPorts;
  /** Conversations that are being driven with it. */
  driving: number;
}

export function createReload({ first, load, open, clock, logger }: ReloadOptions): Reload {
  const held: Held[] = [];
  /** Conversations whose turn is at work, between two slices of it. */
  const atWork = new Map<string, Held>();
  let current = hold(first);
  let refused: RefusedEdit | undefined;
  let looking: Promise<unknown> = Promise.resolve();
  let closing: Promise<unknown> = Promise.resolve();
  let stamp = stampOf(first.bundle.files);
  const { file, id } = first.bundle;

  function hold(edition: Edition): Held {
    const one: Held = {
      edition,
      ports: { ...edition.ports, revision: edition.bundle.revision, isSuperseded: () => current !== one },
      driving: 0,
    };
    edition.running.use();
    held.push(one);
    return one;
  }

  async function closeEdition({ running, bundle }: Edition): Promise<void> {
    await running.release();
    await bundle.close();
  }

  /** Lets go of editions that nothing works with. */
  function retire(): void {
    const idle = held.filter((one) => one !== current && one.driving === 0);
    const needed = new Set(atWork.values());
    const over = new Set(idle.filter((one) => !needed.has(one)));
    for (const one of idle.slice(0, Math.max(0, held.length - MOST_EDITIONS))) over.add(one);
    for (const [conversation, one] of atWork) if (over.has(one)) atWork.delete(conversation);
    for (const one of over) {
      held.splice(held.indexOf(one), 1);
      const ended = closeEdition(one.edition).catch((error: unknown) => {
        logger.error('an old edition of a bundle could not be closed', { bundle: file, error });
      });
      closing = Promise.all([closing, ended]);
    }
  }

  function refuse(kind: RefusedEdit['kind'], why: string, hint: string): 'kept' {
    // Said once: whatever else is saved beside it does not make it news.
    if (refused?.why !== why) {
      const line = kind === 'wrong' ? 'an edited bundle is wrong' : 'an edited bundle needs a restart';
      logger.error(`${line}; turns go on with the one before`, { bundle: file, why, hint });
      refused = { at: clock.now(), kind, why, hint };
    }
    return 'kept';
  }

  async function look(): Promise<'same' | 'new' | 'kept'> {
    const before = stampOf(current.edition.bundle.files);
    const came = await lookNow();
    stamp = came === 'new' ? stampOf(current.edition.bundle.files) : before;
    return came;
  }

  async function lookNow(): Promise<'same' | 'new' | 'kept'> {
    let bundle: LoadedBundle;
    try {
      bundle = await load();
    } catch (error) {
      return refuse('wrong', messageOf(error), 'mend the file; it is looked at again when it is saved');
    }
    if (bundle.revision === current.edition.bundle.revision) {
      await bundle.close();
      if (refused !== undefined) logger.info('an edit of a bundle was taken back', { bundle: file });
      refused = undefined;
      return 'same';
    }
    if (bundle.id !== id) {
      await bundle.close();
      const why = `its id is ${bundle.id} and was ${id}, by which its runs are known`;
      return refuse(
        'restart',
        why,
        `write id: ${id} again, or restart; runs of ${id} then wait for a bundle of that id`,
      );
    }
    let edition: Edition;
    try {
      edition = await open(bundle);
    } catch (error) {
      await bundle.close();
      return refuse('wrong', messageOf(error), 'mend the file; it is looked at again when it is saved');
    }
    const fields = { bundle: file, before: current.edition.bundle.revision, after: bundle.revision };
    logger.info('an edited bundle counts from the next turn on', fields);
    for (const { place, text } of bundle.notices) logger.warn(text, { bundle: file, place });
    refused = undefined;
    current = hold(edition);
    retire();
    return 'new';
  }

  return {
    get current() {
      return current.edition;
    },
    get refused() {
      return refused;
    },
    portsFor(conversationId) {
      const mine = atWork.get(conversationId) ?? current;
      mine.driving++;
      return {
        ports: mine.ports,
        left(conversation) {
          mine.driving--;
          if (conversation === undefined) atWork.set(conversationId, mine);
          else if (isAtWork(conversation)) atWork.set(conversationId, mine);
          else atWork.delete(conversationId);
          retire();
        },
      };
    },
    now() {
      const mine = looking.then(look, look);
      looking = mine;
      return mine;
    },
    ifSaved() {
      return stampOf(current.edition.bundle.files) === stamp ? Promise.resolve('same') : this.now();
    },
    watch() {
      const watched = (): Pick<LoadedBundle, 'file' | 'folder' | 'files' | 'skillFolders'> => current.edition.bundle;
      return watchBundle({ watched, changed: () => this.now(), clock, logger });
    },
    async close() {
      await looking.catch(() => undefined);
      await Promise.all([closing, ...held.map(({ edition }) => closeEdition(edition))]);
    },
  };
}

function isAtWork(conversation: Conversation): boolean {
  return conversation.turn !== undefined && next(conversation).type !== 'rest';
}

function messageOf(error: unknown): string {
  if (TreadleError.is(error)) return error.message;
  return error instanceof Error ? error.message : String(error);
}
