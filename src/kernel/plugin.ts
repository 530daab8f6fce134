import type { z } from 'zod';
import type { Clock, Instant } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { ModelRef } from '../domain/agent.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import { DEFAULT_PRIORITY, type Answerer, type Bus, type RequestType } from './bus.ts';
import type { Spending } from './ledger.ts';
import type { Log } from './log.ts';
import type { Logger } from './logger.ts';
import type { Telemetry } from './telemetry.ts';
import type { QuestionType } from './verdict.ts';

/** One block of announce, or nothing to say. Pure: the same turn and time give the same text. */
export type AnnounceBlock = (turn: Turn, conversation: Conversation, now: Instant) => string | undefined;

/** Everything a plugin may touch. It meets other plugins only through events and gates. */
export interface Host extends Pick<Bus, 'on' | 'before' | 'emit'> {
  answer<R extends RequestType>(request: R, answerer: Answerer<R>): void;
  /** Adds a block to announce under a title such as `MEMORY`. */
  announce(title: string, block: AnnounceBlock): void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where spans and figures go, where a plugin that sends some is active. */
  readonly telemetry: Telemetry | undefined;
  /** What runs, users and tenants have spent, where it is counted. */
  readonly spending: Spending | undefined;
  /** The models of a role of an agent, first choice first. */
  readonly modelsOf: ModelsOf | undefined;
  /** The log, to read again what was heard. Absent where nothing is kept, such as for the documentation. */
  readonly log: LogReader | undefined;
  /** A folder of this process, for what has to be there after it. Absent where nothing is kept, or kept elsewhere. */
  readonly folder: string | undefined;
  /** What is waited for before the plugin is taken down at the end of a process. It has a bound of its own. */
  finish(work: () => MaybePromise<void>): void;
}

export type LogReader = Pick<Log, 'find' | 'read'>;

export type ModelsOf = (agent: string, role: string) => readonly ModelRef[] | undefined;

/** What a gate's configuration alone says of the runs of a tool: for people who read an agent. Nothing is decided by it. */
export interface Stance {
  readonly then: 'allow' | 'ask' | 'deny';
  /** Of which runs, in words such as `amount is over 50`. Absent: of every run that no stance before it is about. */
  readonly when?: string | undefined;
  /** For whoever is asked or refused. */
  readonly why?: string | undefined;
  /** Where it stands in the configuration: keys from its root. Empty: it follows from all of it. */
  readonly at: readonly (string | number)[];
}

/**
 * A text of a configuration as the bundle writes it, by its keys from the root: variables stand by their names. What people
 * read is made of these, because a value may be a secret.
 */
export type Written = (at: readonly (string | number)[], text: string) => string;

/**
 * One function that registers gates, listeners and answerers. What it registers is its declaration: the manifest is read
 * from the host afterwards, so it cannot disagree with the code.
 */
export interface Plugin<C = unknown> {
  /** `gate.endless_loop`: kind, dot, name. */
  readonly id: string;
  /** One sentence for the people who choose plugins. */
  readonly about: string;
  /** Everything the plugin can be configured with; strict, with defaults. */
  readonly config: z.ZodType<C>;
  /** A configuration as a bundle would write it, for the documentation. */
  readonly example?: JsonObject;
  /** Names and patterns of tools in a configuration: what no tool of a bundle is called is told to who wrote it. */
  tools?(config: C): readonly string[];
  /** What it will say of the runs of a tool, as far as the configuration tells. The first that is about a run counts. */
  stances?(config: C, tool: ToolDefinition, written: Written): readonly Stance[];
  /** What takes its time, before setup: such as loading a package. Rejecting fails the start. */
  prepare?(config: C): Promise<void>;
  /** May return a function that is called when the plugin is taken down. Throwing fails the start. */
  setup(host: Host, config: C): void | (() => void);
}

export function definePlugin<C>(plugin: Plugin<C>): Plugin<C> {
  return plugin;
}

/** What a plugin really registered. */
export interface Manifest {
  readonly id: string;
  readonly about: string;
  readonly listens: readonly string[];
  readonly gates: readonly QuestionType[];
  /** The place of each gate in the order in which gates are asked, lower first. */
  readonly priorities: readonly number[];
  readonly answers: readonly RequestType[];
  readonly announces: readonly string[];
}

export interface Installed {
  readonly manifest: Manifest;
  readonly blocks: ReadonlyMap<string, AnnounceBlock>;
  /** Lets it finish what it waits for. Never rejects. */
  settle(): Promise<void>;
  uninstall(): void;
}

export interface InstallOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry?: Telemetry | undefined;
  readonly spending?: Spending | undefined;
  readonly modelsOf?: ModelsOf | undefined;
  readonly log?: LogReader | undefined;
  readonly folder?: string | undefined;
  /** Overrides the plugin's own priorities. */
  readonly priority?: number | undefined;
}

/** Sets a plugin up. Throws `plugin_config` for a configuration it does not accept and `plugin_failed` when its setup throws. */
export function install<C>(
  plugin: Plugin<C>,
  config: unknown,
  { bus, clock, logger, telemetry, spending, modelsOf, log, folder, priority }: InstallOptions,
): Installed {
  const checked = plugin.config.safeParse(config ?? {});
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new TreadleError('plugin_config', {
      place: [`plugins.${plugin.id}`, ...(issue?.path ?? [])].join('.'),
      wanted: issue?.message ?? 'a valid configuration',
      hint: 'see docs/configuration.md',
    });
  }
  const undo: (() => void)[] = [];
  const last: (() => MaybePromise<void>)[] = [];
  const listens: string[] = [];
  const gates: QuestionType[] = [];
  const priorities: number[] = [];
  const answers: RequestType[] = [];
  const blocks = new Map<string, AnnounceBlock>();
  const registration = { source: plugin.id, priority };
  // What a bundle says of a plugin stands over what the plugin says of itself.
  const over = priority === undefined ? { source: plugin.id } : registration;
  const host: Host = {
    on(pattern, listener, options) {
      listens.push(pattern);
      const off = bus.on(pattern, listener, { ...options, ...over });
      undo.push(off);
      return off;
    },
    before(question, judge, options) {
      gates.push(question);
      priorities.push(priority ?? options?.priority ?? DEFAULT_PRIORITY);
      const off = bus.before(question, judge, { ...options, ...over });
      undo.push(off);
      return off;
    },
    answer(request, answerer) {
      answers.push(request);
      undo.push(bus.answer(request, answerer, registration));
    },
    emit: (conversationId, draft) => bus.emit(conversationId, { ...draft, source: plugin.id }),
    announce: (title, block) => blocks.set(title, block),
    clock,
    logger,
    telemetry,
    spending,
    modelsOf,
    log,
    folder,
    finish: (work) => void last.push(work),
  };
  try {
    const dispose = plugin.setup(host, checked.data);
    if (dispose !== undefined) undo.push(dispose);
  } catch (cause) {
    for (const off of undo) off();
    if (TreadleError.is(cause)) throw cause;
    throw new TreadleError('plugin_failed', {
      place: plugin.id,
      found: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
  return {
    manifest: {
      id: plugin.id,
      about: plugin.about,
      listens,
      gates,
      priorities,
      answers,
      announces: [...blocks.keys()],
    },
    blocks,
    async settle() {
      for (const work of last) {
        try {
          await work();
        } catch (error) {
          logger.error('a plugin could not finish', { plugin: plugin.id, error });
        }
      }
    },
    uninstall: () => {
      for (const off of undo.splice(0)) off();
    },
  };
}
