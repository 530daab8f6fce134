import { systemClock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import { openRequests, type Conversation, type HeldRequest } from '../domain/conversation.ts';
import { emptyTimeline, project, type Timeline } from '../domain/timeline.ts';
import type { Platform } from '../platform/platform.ts';
import { askRequests } from './approval.ts';
import type { Context } from './context.ts';
import { driveRun, type Driven } from './drive-run.ts';
import { linePerson } from './line-person.ts';
import { createProgress } from './progress.ts';
import { createPlainScreen } from './screen.ts';
import { TurnView } from './turn-view.ts';

/** What happens when a run needs a person. */
export type ApprovalPolicy = 'ask' | 'wait' | 'deny';

/**
 * What was asked for; else the person at the terminal is asked. Where there is none, the run is left waiting, unless its
 * log is not kept, so that nobody could ever answer. Throws `usage` where nobody can be asked.
 */
export function approvalPolicy(
  { terminal }: Context,
  { onApproval, memory }: { readonly onApproval?: ApprovalPolicy; readonly memory?: boolean },
): ApprovalPolicy {
  const isPersonThere = terminal.interactive && terminal.err.isTTY;
  if (onApproval === 'ask' && !isPersonThere) {
    throw new TreadleError('usage', {
      place: '--on-approval',
      found: 'ask, and no terminal to ask at',
      wanted: 'wait or deny',
    });
  }
  return onApproval ?? (isPersonThere ? 'ask' : memory === true ? 'deny' : 'wait');
}

export interface WatchOptions {
  readonly policy: ApprovalPolicy;
  readonly quiet?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly patienceMs?: number | undefined;
  readonly goesOnAfterStop?: boolean | undefined;
}

/** Drives a run and shows on stderr what goes on, where a person watches it. */
export async function watchRun(
  { terminal }: Context,
  platform: Platform,
  id: string,
  { policy, quiet = false, timeoutMs, patienceMs, goesOnAfterStop }: WatchOptions,
): Promise<Driven> {
  const isWatched = terminal.showsProgress && !quiet;
  const screen = createPlainScreen(terminal.err);
  const progress = createProgress((line) => {
    terminal.err.write(line === undefined ? '\r\x1b[K' : `\r\x1b[K${terminal.errColors.dim(line)}`);
  });
  const view = new TurnView(
    {
      screen: {
        ...screen,
        lines(...lines) {
          progress.stop();
          screen.lines(...lines);
        },
      },
      colors: terminal.errColors,
      columns: terminal.columns,
      showsAnswer: false,
      onPhase: (phase) => {
        progress.phase(phase);
      },
    },
    // What was asked for before this process came is shown when its result does.
    isWatched ? await timelineSoFar(platform.conversations, id) : undefined,
  );
  const off = platform.bus.on('*', (event) => {
    if (isWatched && event.conversationId === id) view.hear(event);
  });
  try {
    if (isWatched) progress.phase({ text: 'starting', since: systemClock.now() });
    return await driveRun(platform, id, {
      timeoutMs,
      patienceMs,
      goesOnAfterStop,
      onBusy: (isBusy) => {
        if (isWatched) progress.phase({ text: isBusy ? WAITS : 'going on', since: systemClock.now() });
        else if (isBusy && !quiet) terminal.err.write(`${WAITS}\n`);
      },
      onWaiting: async (conversation) => {
        if (isWatched) progress.stop();
        switch (policy) {
          case 'ask':
            return askRequests(conversation, linePerson(terminal), platform.conversations, 'local');
          case 'deny':
            return denyRequests(platform, conversation);
          case 'wait':
            return false;
        }
      },
    });
  } finally {
    off();
    if (isWatched) progress.stop();
  }
}

async function timelineSoFar(conversations: Platform['conversations'], id: string): Promise<Timeline> {
  let timeline = emptyTimeline;
  for await (const fact of conversations.facts(id)) timeline = project(timeline, fact);
  return timeline;
}

const WAITS = 'waiting for the process that has it';

async function denyRequests(platform: Platform, conversation: Conversation): Promise<boolean> {
  await denyOpen(platform, conversation);
  return true;
}

/** Refuses the approvals; false where none was open, so that nothing moves. What was asked in words stays open. */
export async function denyApprovals(platform: Platform, conversation: Conversation): Promise<boolean> {
  return denyOpen(platform, conversation, ({ kind }) => kind !== 'input');
}

async function denyOpen(
  { conversations }: Platform,
  { id, turn }: Conversation,
  isMeant: (one: HeldRequest) => boolean = () => true,
): Promise<boolean> {
  const open = turn === undefined ? [] : openRequests(turn).filter(isMeant);
  for (const { request } of open)
    await conversations.answer(id, { request, decision: 'reject', note: 'Nobody is there to ask.', by: 'operator' });
  return open.length > 0;
}
