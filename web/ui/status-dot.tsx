import type { RunStatus, StatusKind } from '../api/types.ts';

const WORDS: Readonly<Record<RunStatus, string>> = {
  initializing: 'Starting',
  running: 'Working',
  plan_approved: 'Working',
  action_approved: 'Working',
  pending_plan_approval: 'Needs approval of a plan',
  pending_action_approval: 'Needs approval',
  awaiting_user_input: 'Asks you something',
  waiting_for_computation: 'Waits for a computation',
  waiting_for_subagents: 'Waits for other agents',
  completed: 'Completed',
  stopped: 'Stopped',
  error: 'Failed',
  max_iterations_reached: 'Reached its limit',
  plan_rejected: 'Plan rejected',
};

/** A status in words; a word that this page does not know is shown as it came. */
export function statusInWords(status: RunStatus): string {
  return (WORDS as Readonly<Record<string, string | undefined>>)[status] ?? status.replaceAll('_', ' ');
}

export function StatusDot({ status, kind }: { readonly status: RunStatus; readonly kind: StatusKind }) {
  const tone =
    kind === 'waiting_for_person'
      ? 'wait'
      : kind === 'ended'
        ? status === 'completed'
          ? 'quiet'
          : status === 'stopped'
            ? 'hollow'
            : 'bad'
        : 'busy';
  return <span className="status-dot" data-tone={tone} role="img" aria-label={statusInWords(status)} />;
}
