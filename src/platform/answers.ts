import { TreadleError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import { isBlank } from '../base/text.ts';
import type { AllowScope } from '../domain/allowance.ts';
import { planEdit } from '../domain/plan.ts';
import { openRequests, type Conversation, type HeldRequest } from '../domain/conversation.ts';
import type { FactPayload } from '../domain/event.ts';
import type { AgentSource } from '../kernel/agent-source.ts';

export interface Answer {
  readonly request: string;
  readonly decision: 'allow' | 'reject' | 'edit' | 'reply';
  /** The new arguments of an `edit`. */
  readonly arguments?: Json;
  /** The words of a `reply`. */
  readonly text?: string;
  /** A reason for the model. */
  readonly note?: string;
  /** How far an `allow` reaches: absent, to this one action. */
  readonly allow?: AllowScope;
  readonly by: string;
}

/** An answer as it will be on record. Throws `request_unknown`, `request_answered` or `answer_invalid`. */
export function checkedAnswer(
  conversation: Conversation,
  answer: Answer,
  agents: AgentSource,
): FactPayload<'hitl.responded'> {
  const { turn } = conversation;
  const request = turn?.requests.find((one) => one.request === answer.request);
  if (turn === undefined || request === undefined) {
    const open = turn === undefined ? [] : openRequests(turn);
    throw new TreadleError('request_unknown', {
      found: JSON.stringify(answer.request),
      wanted: open.length === 0 ? 'an open request; none is open' : open.map((one) => one.request).join(' or '),
    });
  }
  if (request.cancelled !== undefined)
    throw new TreadleError('request_answered', {
      place: answer.request,
      found: `a request that was ${request.cancelled}`,
    });
  const problem = misfit(request, answer);
  if (problem !== undefined) throw new TreadleError('answer_invalid', { place: answer.request, ...problem });
  const payload: FactPayload<'hitl.responded'> = { request: answer.request, decision: answer.decision, by: answer.by };
  if (answer.arguments !== undefined) payload.arguments = answer.arguments;
  if (answer.text !== undefined) payload.text = answer.text.toWellFormed();
  if (answer.note !== undefined) payload.note = answer.note.toWellFormed();
  if (answer.allow !== undefined && answer.allow !== 'once') payload.allow = answer.allow;
  checkEdit(conversation, payload, agents);
  return payload;
}

const DECISIONS: ReadonlySet<string> = new Set<Answer['decision']>(['allow', 'reject', 'edit', 'reply']);

function misfit(
  request: HeldRequest,
  { decision, arguments: given, text, allow = 'once' }: Answer,
): { readonly found: string; readonly wanted: string } | undefined {
  const offered: readonly string[] = ['once', ...(request.allowance?.scopes ?? [])];
  if (!offered.includes(allow)) return { found: `allow: ${allow}`, wanted: offered.join(' or ') };
  if (allow !== 'once' && decision !== 'allow')
    return { found: `${decision} with allow: ${allow}`, wanted: `allow: ${allow} with the decision allow` };
  if (!DECISIONS.has(decision)) return { found: `the decision ${decision}`, wanted: 'allow, reject, edit or reply' };
  if (request.kind === 'input') {
    if (decision !== 'reply' && decision !== 'reject')
      return { found: decision, wanted: 'reply or reject: it is a question' };
    return decision === 'reply' && (text === undefined || isBlank(text))
      ? { found: 'a reply without words', wanted: 'some text' }
      : undefined;
  }
  if (decision === 'reply') return { found: 'reply', wanted: 'allow, reject or edit: it is an approval' };
  if (decision === 'edit' && request.kind === 'plan') return planMisfit(given);
  return decision === 'edit' && given === undefined
    ? { found: 'an edit without arguments', wanted: 'the new arguments' }
    : undefined;
}

/** Steps that are no plan. */
function planMisfit(given: Json | undefined): { readonly found: string; readonly wanted: string } | undefined {
  const edit = planEdit.safeParse(given);
  if (edit.success) return undefined;
  const [issue] = edit.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return {
    found: `${place}${issue?.message ?? 'no plan'}`,
    wanted: '{"steps": [{"title": …, "detail"?: …}, …]}, all steps in order',
  };
}

/** A person's slip is told to that person, who can put it right; the model would only see that its action was refused. */
function checkEdit(
  { turn }: Conversation,
  { request, decision, arguments: given }: FactPayload<'hitl.responded'>,
  agents: AgentSource,
): void {
  const asked = turn?.requests.find((one) => one.request === request);
  const name = asked?.name ?? turn?.current?.actions.find((one) => one.action.id === asked?.action)?.action.name;
  if (turn === undefined || name === undefined || decision !== 'edit' || given === undefined) return;
  const problems = agents.tools(turn.agent).get(name)?.validate(given) ?? [];
  if (problems.length > 0)
    throw new TreadleError('answer_invalid', {
      place: request,
      found: problems.join('; '),
      wanted: `arguments that ${name} takes`,
    });
}
