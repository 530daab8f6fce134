// Codes that are facts and not errors: of observations, and of turns that ended without an answer. A test compares them
// with the literals of the loop.
import { FAILURE_CLASSES } from '../../src/domain/model.ts';

/** Why an action did not come out `ok`. A tool may fail with a code of its own. */
export const OBSERVATION_CODES: Readonly<Record<string, string>> = {
  not_allowed: 'The tool is not among those of this turn.',
  not_loaded: 'The tool is deferred and was not found by a search yet.',
  bad_arguments: 'The arguments are not JSON, or do not fit the schema.',
  too_many: 'The decision had more actions than are carried out.',
  repeated: 'The same call gave the same result too often.',
  cut: 'The answer was cut at its length limit, so none of its actions ran.',
  unavailable: 'The tool was granted when the turn began, and cannot be had now.',
  taken_out: 'The tool was granted when the turn began, and the edited bundle does not have it.',
  tool_failed: 'The tool threw.',
  bad_output: 'The tool ran and returned something else than it declares.',
  timeout: 'The tool took too long.',
  interrupted: 'The program stopped while the tool ran, and nobody knows whether it happened.',
  needs_approval: 'A person would have to be asked, and the tool that calls it cannot wait.',
  cannot_wait: 'Called by another tool, it waits for work elsewhere.',
  diverged: 'A program that had to be run again did not do the same, and was ended.',
  rejected: 'A person refused.',
  expired: 'Nobody answered in time.',
  cancelled: 'The turn was stopped.',
  steered: 'A person said something else first.',
  ended: 'The turn ended first.',
  work_failed: 'The work outside failed, and whoever handed that in did not say why.',
  ticket_taken: 'The ticket is that of another action of the conversation.',
  subagents_off: 'The agent may not delegate.',
  too_many_subagents: 'As many tasks as may be are worked on already.',
  too_deep: 'The task was handed on too often.',
  gate_denied: 'A gate refused and gave no code of its own.',
  gate_failed: 'A gate threw.',
  gate_timeout: 'A gate took too long.',
  gate_junk: 'A gate answered with something that is not a verdict.',
  gate_unsettled: 'Gates kept revising each other.',
  gate_invalid_revision: 'A gate revised something into what is not valid.',
};

/** Why a turn ended without an answer, besides the codes of its last observation. */
export const TURN_CODES: Readonly<Record<string, string>> = {
  max_iterations: 'The limit of model calls is reached.',
  bad_decision: 'The model kept answering with what is no decision.',
  empty_reply: 'The model answered with nothing, twice.',
  paused: 'The provider kept asking to be called again.',
  max_actions: 'The limit of actions of the run is reached.',
  max_tokens: 'The limit of tokens of the run is reached.',
  max_wall_ms: 'The limit of time at work is reached.',
  crash_loop: 'The program stopped at the same point again and again.',
  no_model: 'The agent has no model.',
  plan_failed: 'The planner did not answer.',
  context_full: 'The prompt has reached `context_max_tokens`, and no memory plugin is active.',
  gate_held: 'A gate wanted a person to look at something that cannot wait.',
};

/** The same for models that did not answer: `model_` and the class of the failure. */
export const MODEL_CODES: readonly string[] = FAILURE_CLASSES.map((one) => `model_${one}`);
