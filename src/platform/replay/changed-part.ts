/** Lines that are shown before and after what changed. */
const CONTEXT = 2;
const MOST_CHARACTERS = 20_000;

/** What two texts do not share: from the first line that differs to the last, with a little around it. */
export function changedPart(before: string, after: string): { readonly before: string; readonly after: string } {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  return { before: part(old, head, tail), after: part(now, head, tail) };
}

function part(lines: readonly string[], head: number, tail: number): string {
  const from = Math.max(0, head - CONTEXT);
  const until = Math.min(lines.length, lines.length - tail + CONTEXT);
  const text = lines.slice(from, until).join('\n');
  const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).toWellFormed()}\n…` : text;
  return `${from > 0 ? '…\n' : ''}${cut}${until < lines.length ? '\n…' : ''}`;
}
