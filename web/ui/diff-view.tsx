import { diffWordsWithSpace, parsePatch, structuredPatch, type StructuredPatch } from 'diff';
import { useMemo, useState } from 'react';
import '../styles/diff.css';
import { Button } from './button.tsx';

export type DiffViewProps = { readonly file?: string | undefined } & (
  { readonly before: string; readonly after: string } | { readonly patch: string }
);

interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
}

interface Row {
  readonly kind: 'same' | 'gone' | 'new' | 'gap';
  readonly before?: number;
  readonly after?: number;
  readonly pieces: readonly Piece[];
}

/** Rows that are drawn before somebody asks for the others. */
const FIRST = 200;
/** Longer lines are compared as a whole. */
const LONGEST = 400;
const CONTEXT = 3;

/** What goes and what comes, line by line, with the changed words marked. Loaded with the first change to show. */
export function DiffView(props: DiffViewProps) {
  const { file } = props;
  const [isWhole, setWhole] = useState(false);
  const before = 'patch' in props ? undefined : props.before;
  const after = 'patch' in props ? undefined : props.after;
  const patch = 'patch' in props ? props.patch : undefined;
  const patches = useMemo(
    () =>
      patch === undefined
        ? [structuredPatch('', '', before ?? '', after ?? '', undefined, undefined, { context: CONTEXT })]
        : parsed(patch),
    [before, after, patch],
  );
  if (patches === undefined)
    return (
      <pre className="plain-output" tabIndex={0}>
        {patch}
      </pre>
    );
  return patches.map((one, index) => (
    <FileDiff
      key={index}
      file={nameOf(one) ?? file}
      rows={rowsOf(one)}
      isWhole={isWhole}
      onWhole={() => {
        setWhole(true);
      }}
    />
  ));
}

function FileDiff({
  file,
  rows,
  isWhole,
  onWhole,
}: {
  readonly file: string | undefined;
  readonly rows: readonly Row[];
  readonly isWhole: boolean;
  readonly onWhole: () => void;
}) {
  const count = (kind: Row['kind']): number => rows.filter((row) => row.kind === kind).length;
  const shown = isWhole ? rows : rows.slice(0, FIRST);
  return (
    <figure className="diff">
      <figcaption>
        <span className="diff-file">{file ?? 'Change'}</span>
        <span className="diff-count">
          <ins>+{count('new')}</ins> <del>−{count('gone')}</del>
        </span>
      </figcaption>
      {rows.length === 0 ? <p className="diff-none">Nothing changes.</p> : null}
      <div className="diff-rows" tabIndex={0} role="region" aria-label={`Changes in ${file ?? 'the text'}`}>
        {shown.map((row, index) => (
          <div key={index} className="diff-row" data-kind={row.kind}>
            <span className="diff-line" aria-hidden>
              {row.before}
            </span>
            <span className="diff-line" aria-hidden>
              {row.after}
            </span>
            <DiffText row={row} />
          </div>
        ))}
      </div>
      {shown.length === rows.length ? null : (
        <Button look="quiet" onClick={onWhole}>
          {rows.length - shown.length} more lines
        </Button>
      )}
    </figure>
  );
}

function DiffText({ row: { kind, pieces } }: { readonly row: Row }) {
  const text = pieces.map((piece, index) =>
    piece.isChanged ? <mark key={index}>{piece.text}</mark> : <span key={index}>{piece.text}</span>,
  );
  switch (kind) {
    case 'gone':
      return <del>{text}</del>;
    case 'new':
      return <ins>{text}</ins>;
    case 'gap':
    case 'same':
      return <span>{text}</span>;
  }
}

/** A text that calls itself a patch and is none stays a text. */
function parsed(patch: string): readonly StructuredPatch[] | undefined {
  try {
    const patches = parsePatch(patch).filter(({ hunks }) => hunks.length > 0);
    return patches.length === 0 ? undefined : patches;
  } catch {
    return undefined;
  }
}

function nameOf({ oldFileName, newFileName }: StructuredPatch): string | undefined {
  const name = [newFileName, oldFileName].find((one) => one !== undefined && one !== '' && one !== '/dev/null');
  return name?.replace(/^[ab]\//, '');
}

function rowsOf({ hunks }: StructuredPatch): readonly Row[] {
  return hunks.flatMap((hunk, index) => {
    let before = hunk.oldStart;
    let after = hunk.newStart;
    const rows: Row[] = index === 0 ? [] : [{ kind: 'gap', pieces: [whole('⋯')] }];
    for (let place = 0; place < hunk.lines.length;) {
      const gone = run(hunk.lines, place, '-');
      const come = run(hunk.lines, place + gone.length, '+');
      const pairs = gone.length === come.length ? gone.map((line, at) => worded(line, come[at] ?? '')) : undefined;
      for (const [at, line] of gone.entries())
        rows.push({ kind: 'gone', before: before++, pieces: pairs?.[at]?.gone ?? [whole(line)] });
      for (const [at, line] of come.entries())
        rows.push({ kind: 'new', after: after++, pieces: pairs?.[at]?.come ?? [whole(line)] });
      place += gone.length + come.length;
      if (gone.length + come.length > 0) continue;
      const line = hunk.lines[place++] ?? '';
      if (line.startsWith('\\')) continue; // no newline at the end of the file
      rows.push({ kind: 'same', before: before++, after: after++, pieces: [whole(line.slice(1))] });
    }
    return rows;
  });
}

/** The lines from a place on that begin with a sign, without it. */
function run(lines: readonly string[], from: number, sign: string): readonly string[] {
  let to = from;
  while (lines[to]?.startsWith(sign) === true) to++;
  return lines.slice(from, to).map((line) => line.slice(1));
}

function whole(text: string): Piece {
  return { text, isChanged: false };
}

function worded(gone: string, come: string): { readonly gone: readonly Piece[]; readonly come: readonly Piece[] } {
  if (gone.length > LONGEST || come.length > LONGEST) return { gone: [whole(gone)], come: [whole(come)] };
  const parts = diffWordsWithSpace(gone, come);
  const side = (other: 'added' | 'removed', own: 'added' | 'removed'): readonly Piece[] =>
    parts.filter((part) => !part[other]).map((part) => ({ text: part.value, isChanged: part[own] }));
  return { gone: side('added', 'removed'), come: side('removed', 'added') };
}
