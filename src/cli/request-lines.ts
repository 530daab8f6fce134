import { isoTime } from '../base/clock.ts';
import { toJson } from '../base/json.ts';
import type { RunRequest, Snapshot } from '../client/index.ts';
import { questionLines, type Question } from './approval.ts';
import { commandName } from './command-name.ts';
import { shortId } from './open.ts';
import type { StoryOptions } from './story.ts';
import { quoted } from './waiting.ts';
import { harmless } from './text.ts';

export function asQuestion(request: RunRequest): Question {
  const { kind, question, choices, name, arguments: given, gate, allowance, preview } = request;
  const plan = request.plan?.map(({ title, detail }) => ({ title, detail })); // none of it is begun
  const asked = { kind, question, choices, name, gate, allowance, preview, plan };
  return { ...asked, ...(given !== undefined && { arguments: toJson(given) }) };
}

/** What a run on a server waits for, and the commands that answer it. */
export function requestLines(
  request: RunRequest,
  { id: runId }: Pick<Snapshot, 'id'>,
  { colors, columns }: StoryOptions,
): string[] {
  const { id, kind, run, agentPath, expiresAt, choices, decisions, allowance } = request;
  const command = `${commandName()} runs`;
  const target = `${shortId(runId)} ${quoted(id)}`;
  const from = run === runId ? [] : [`    asked by ${harmless(agentPath)} in ${shortId(run)}`];
  const until = expiresAt === undefined ? [] : [`    until ${isoTime(Date.parse(expiresAt)).slice(0, 19)} UTC`];
  const how =
    kind === 'input'
      ? [`${command} reply ${target} ${quoted(harmless(choices?.[0] ?? 'your answer'))}`]
      : [
          `${command} approve ${target}`,
          ...(allowance?.scopes ?? []).map((scope) => `${command} approve ${target} --allow ${scope}`),
          `${command} reject ${target} --note "why not"`,
          ...(decisions.includes('edit') ? [`${command} edit ${target} '{…}'`] : []),
        ];
  return [
    '',
    ...questionLines(asQuestion(request), { colors, columns: () => columns }),
    ...[...from, ...until].map((line) => colors.dim(line)),
    ...how.map((line) => `    ${line}`),
  ];
}
