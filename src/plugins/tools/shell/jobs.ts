import type { RunningCommand, ShellEnd } from '../../../kernel/shell.ts';

export interface Job {
  readonly running: RunningCommand;
  /** Undefined while it runs. */
  end(): ShellEnd | undefined;
}

/** Commands in the background, each of one conversation and of this process: they end with the turn, and with the process. */
export class Jobs {
  readonly #known = new Map<string, Map<string, Job>>();

  add(conversation: string, id: string, running: RunningCommand): void {
    let end: ShellEnd | undefined;
    running.ended.then(
      (how) => (end = how),
      () => (end = { exitCode: undefined, signal: undefined }),
    );
    const own = this.#known.get(conversation) ?? new Map<string, Job>();
    own.set(id, { running, end: () => end });
    this.#known.set(conversation, own);
  }

  find(conversation: string, id: string): Job | undefined {
    return this.#known.get(conversation)?.get(id);
  }

  /** How many of a conversation are at work. */
  atWork(conversation: string): number {
    return [...(this.#known.get(conversation)?.values() ?? [])].filter((one) => one.end() === undefined).length;
  }

  /** Ends all of a conversation. */
  endAll(conversation: string): void {
    for (const { running } of this.#known.get(conversation)?.values() ?? []) running.stop();
    this.#known.delete(conversation);
  }
}
