import { statusKind, type RunStatus, type StatusKind } from '../domain/status.ts';
import type { ConversationRow } from '../kernel/log.ts';
import { shortId } from './open.ts';
import type { Colors } from './terminal.ts';
import { ago, oneLine, widthOf } from './text.ts';

/** Runs as a table: id, how it stands, when, agent, the first words. */
export function runTable(
  rows: readonly (Pick<ConversationRow, 'id' | 'status' | 'updatedAt' | 'agent' | 'title'> & {
    readonly statusKind?: StatusKind;
  })[],
  { colors, columns, now }: { readonly colors: Colors; readonly columns: number; readonly now: number },
): string[] {
  const cells = rows.map(
    (row) =>
      [
        shortId(row.id),
        shortStatus(row.status, row.statusKind),
        ago(Math.max(0, now - row.updatedAt)),
        row.agent,
      ] as const,
  );
  const widths = [0, 1, 2, 3].map((column) =>
    Math.min(16, Math.max(...cells.map((one) => widthOf(one[column] ?? '')))),
  );
  const room = Math.max(10, columns - widths.reduce((sum, width) => sum + width + 2, 0));
  return rows.map((row, index) => {
    const [id = '', status = '', age = '', agent = ''] = (cells[index] ?? []).map((cell, column) =>
      padded(oneLine(cell, widths[column] ?? 0), widths[column] ?? 0),
    );
    return `${colors.bold(id)}  ${painted(row.status, status, colors)}  ${colors.dim(age)}  ${agent}  ${oneLine(row.title, room)}`.trimEnd();
  });
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** The status in a word or two: the run API's own words are long. */
export function shortStatus(status: RunStatus, kind?: StatusKind): string {
  switch (status) {
    case 'pending_plan_approval':
      return 'plan to approve';
    case 'pending_action_approval':
      return 'to approve';
    case 'awaiting_user_input':
      return 'question';
    case 'waiting_for_computation':
    case 'waiting_for_subagents':
      if (kind === 'waiting_for_person') return 'to answer';
      return 'other work';
    case 'max_iterations_reached':
      return 'limit';
    case 'plan_rejected':
      return 'plan rejected';
    case 'plan_approved':
    case 'action_approved':
      return 'approved';
    default:
      return status;
  }
}

function painted(status: RunStatus, text: string, colors: Colors): string {
  switch (statusKind(status)) {
    case 'working':
      return colors.cyan(text);
    case 'waiting_for_person':
    case 'waiting_for_work':
      return colors.yellow(text);
    case 'ended':
      return status === 'completed' ? colors.green(text) : colors.red(text);
  }
}
