import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { OpenRequest, Snapshot } from '../../platform/runs/snapshot.ts';

/** What every tool that is about a run gives, besides words. */
export const outcome = z.object({
  run: z.string().describe('The id of the run: go on with it by run_wait, run_say, run_answer and run_stop.'),
  status: z.string(),
  ended: z.boolean().describe('It has ended. Only completed is success.'),
  answer: z.string().optional(),
  error: z.string().optional(),
  requests: z
    .array(
      z.object({
        request: z.string(),
        run: z.string(),
        digest: z.string(),
        kind: z.string(),
        question: z.string(),
        tool: z.string().optional(),
        arguments: z.unknown().optional(),
        choices: z.array(z.string()).optional(),
        decisions: z.array(z.string()),
      }),
    )
    .describe('What the run waits for from a person.'),
});

/** A run as the result of a tool: its answer, or how it stands and what can be done about it. */
export function resultOf(run: Snapshot): CallToolResult {
  const { id, status, terminal, answer, error, requests } = run;
  const structured: z.infer<typeof outcome> = {
    run: id,
    status,
    ended: terminal,
    ...(answer !== undefined && { answer }),
    ...(error !== undefined && { error: error.message }),
    requests: requests.map(listed),
  };
  const failed = terminal && status !== 'completed';
  return {
    content: [{ type: 'text', text: inWords(run) }],
    structuredContent: structured,
    ...(failed && { isError: true }),
  };
}

function listed(request: OpenRequest): z.infer<typeof outcome>['requests'][number] {
  const { id, run, digest, kind, question, name, choices, decisions } = request;
  return {
    request: id,
    run,
    digest,
    kind,
    question,
    ...(name !== undefined && { tool: name }),
    ...(request.arguments !== undefined && { arguments: request.arguments }),
    ...(choices !== undefined && { choices: [...choices] }),
    decisions: [...decisions],
  };
}

function inWords({ id, status, terminal, answer, error, requests }: Snapshot): string {
  if (status === 'completed') return answer ?? 'Done, without an answer.';
  if (terminal) return `The run ${id} ended: ${status}.${error === undefined ? '' : ` ${error.message}`}`;
  const open = requests.map((one) => `\n- ${one.id}: ${question(one)}`).join('');
  if (open !== '') return `The run ${id} waits for a person:${open}`;
  return `The run ${id} goes on (${status}). Ask again with run_wait.`;
}

/** What a person is asked, with exactly what would run. */
export function question({ question: asked, name, arguments: given }: OpenRequest): string {
  return name === undefined ? asked : `${asked}\n${name} ${JSON.stringify(given ?? {})}`;
}
