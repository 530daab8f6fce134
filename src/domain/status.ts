import { unreachable } from '../base/assert.ts';

/** Statuses of a run, verbatim as the run API prints them. */
export const RUN_STATUSES = [
  'initializing',
  'running',
  'plan_approved',
  'action_approved',
  'pending_plan_approval',
  'pending_action_approval',
  'awaiting_user_input',
  'waiting_for_computation',
  'waiting_for_subagents',
  'completed',
  'stopped',
  'error',
  'max_iterations_reached',
  'plan_rejected',
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

/** How a turn can end. Only `completed` is success. */
export const END_STATUSES = ['completed', 'stopped', 'error', 'max_iterations_reached', 'plan_rejected'] as const;
export type EndStatus = (typeof END_STATUSES)[number];

export type StatusKind = 'working' | 'waiting_for_person' | 'waiting_for_work' | 'ended';

export function statusKind(status: RunStatus): StatusKind {
  switch (status) {
    case 'initializing':
    case 'running':
    case 'plan_approved':
    case 'action_approved':
      return 'working';
    case 'pending_plan_approval':
    case 'pending_action_approval':
    case 'awaiting_user_input':
      return 'waiting_for_person';
    case 'waiting_for_computation':
    case 'waiting_for_subagents':
      return 'waiting_for_work';
    case 'completed':
    case 'stopped':
    case 'error':
    case 'max_iterations_reached':
    case 'plan_rejected':
      return 'ended';
    default:
      return unreachable(status);
  }
}

/**
 * Why a model stopped, or why a turn did. A closed list: what a provider says beyond it becomes `unknown`, stays
 * visible, and is never success.
 */
export const STOP_KINDS = [
  'finished',
  'actions',
  'length',
  'paused',
  'refused',
  'filtered',
  'cancelled',
  'limit',
  'gate',
  'rejected',
  'error',
  'protocol',
  'unknown',
] as const;

export type StopKind = (typeof STOP_KINDS)[number];
