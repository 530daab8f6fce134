import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequest,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isObject } from '../../base/json.ts';
import type { Caller } from '../../platform/runs/caller.ts';
import type { RunAnswer } from '../../platform/runs/runs.ts';
import type { OpenRequest } from '../../platform/runs/snapshot.ts';
import { question } from './outcome.ts';

/** Whether the person behind the caller can be asked through it, and may answer all of this. */
export function canAsk(requests: readonly OpenRequest[], caller: Caller, { mcpReq }: ServerContext): boolean {
  const capabilities: unknown = Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  if (!isObject(capabilities) || capabilities['elicitation'] === undefined) return false;
  const may = (scope: 'approve' | 'run'): boolean => caller.scopes.has(scope) || caller.scopes.has('admin');
  return requests.every((one) => may(one.kind === 'input' ? 'run' : 'approve'));
}

/** Each request as a form. The name that comes back with the answer holds what the answer is bound to. */
export function formsFor(requests: readonly OpenRequest[]): Record<string, InputRequest> {
  return Object.fromEntries(
    requests.map((one) => [
      nameOf(one),
      inputRequired.elicit({
        message: question(one),
        requestedSchema:
          one.kind === 'input'
            ? { type: 'object', properties: { text: textField(one) }, required: ['text'] }
            : {
                type: 'object',
                properties: {
                  decision: { type: 'string', enum: ['allow', 'reject'], title: 'Decision' },
                  note: { type: 'string', title: 'Reason', description: 'The agent reads it.' },
                },
                required: ['decision'],
              },
      }),
    ]),
  );
}

function textField({ choices }: OpenRequest): { type: 'string'; title: string; enum?: string[] } {
  return { type: 'string', title: 'Answer', ...(choices !== undefined && { enum: [...choices] }) };
}

const filled = z.object({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()) });
const declined = z.object({ action: z.literal('decline') });
const decided = z.object({ decision: z.enum(['allow', 'reject']), note: z.string().optional() });
const replied = z.object({ text: z.string() });

/** The answers in what a person has filled in. What was left open stays open: silence is no consent. */
export function answersIn(responses: Readonly<Record<string, unknown>> | undefined): RunAnswer[] {
  return Object.entries(responses ?? {}).flatMap(([name, response]): RunAnswer[] => {
    const bound = boundTo(name);
    if (bound === undefined) return [];
    if (declined.safeParse(response).success) return [{ ...bound, decision: 'reject', note: 'The person declined.' }];
    const content = filled.safeParse(response).data?.content;
    const reply = replied.safeParse(content).data;
    if (reply !== undefined) return [{ ...bound, decision: 'reply', text: reply.text }];
    const decision = decided.safeParse(content).data;
    return decision === undefined ? [] : [{ ...bound, ...decision }];
  });
}

const SEPARATOR = ' ';

function nameOf({ run, id, digest }: OpenRequest): string {
  return [run, id, digest].join(SEPARATOR);
}

function boundTo(name: string): Pick<RunAnswer, 'run' | 'request' | 'digest'> | undefined {
  const [run, request, digest] = name.split(SEPARATOR);
  return run === undefined || request === undefined || digest === undefined ? undefined : { run, request, digest };
}
