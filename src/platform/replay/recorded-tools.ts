import type { ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import { askConsent, askPerson, delegateTo, recordedResult, waitFor } from '../../kernel/tool.ts';
import type { RecordedAction } from './recording.ts';

/** What a tool gave once: its questions, what it waited for, its result. Undefined where the log does not say. */
export function givenAgain(recorded: RecordedAction, context: ToolContext): ToolReturn | undefined {
  const question = recorded.asked[questionsSoFar(context)];
  if (question !== undefined) {
    const { choices, consent } = question;
    return consent === undefined
      ? askPerson(question.question, choices)
      : askConsent(question.question, choices ?? [], consent);
  }
  const { waits, child, result, skill, loads } = recorded;
  if (child !== undefined) return delegateTo(child.agent, '');
  if (waits !== undefined) {
    const { ticket, note, deadline } = waits.payload;
    return waitFor({
      ticket,
      ...(note !== undefined && { note }),
      ...(deadline !== undefined && { expiresInMs: deadline - waits.at }),
    });
  }
  if (result === undefined) return undefined;
  const entered = { ...(skill !== undefined && { skill }), ...(loads !== undefined && { loads }) };
  return recordedResult({ observation: result.observation, ...entered });
}

function questionsSoFar({ conversation: { turn }, actionId }: ToolContext): number {
  return turn?.requests.filter((one) => one.action === actionId && one.kind === 'input').length ?? 0;
}
