import { lazy, Suspense } from 'react';
import type { Json, OpenRequest } from '../api/types.ts';
import { changesIn, type Change } from '../state/changes.ts';
import { JsonView } from '../ui/json-view.tsx';
import { ResultPart } from './result-part.tsx';

const DiffView = lazy(async () => ({ default: (await import('../ui/diff-view.tsx')).DiffView }));

/**
 * The arguments of an action: what they would write as a change of it, everything else by name.
 *
 * What the tool itself shows of what would happen counts for more than what is read from the arguments.
 */
export function WhatRuns({
  given,
  preview = [],
}: {
  readonly given: Json;
  readonly preview?: OpenRequest['preview'] | undefined;
}) {
  const { changes, rest } = changesIn(given);
  if (preview.length > 0)
    return (
      <>
        {preview.map((part, index) => (
          <ResultPart key={index} part={part} />
        ))}
        <details className="all-arguments">
          <summary>All arguments</summary>
          <JsonView value={given} />
        </details>
      </>
    );
  if (changes.length === 0)
    return (
      <div className="approval-what">
        <JsonView value={given} />
      </div>
    );
  return (
    <>
      {changes.map((change, index) => (
        <Written key={index} change={change} />
      ))}
      {Object.keys(rest).length === 0 ? null : (
        <div className="approval-what">
          <JsonView value={rest} />
        </div>
      )}
    </>
  );
}

function Written({ change }: { readonly change: Change }) {
  switch (change.kind) {
    case 'texts':
      return (
        <Suspense fallback={<p className="remark">Comparing…</p>}>
          <DiffView file={change.file} before={change.before} after={change.after} />
        </Suspense>
      );
    case 'patch':
      return (
        <Suspense fallback={<p className="remark">Comparing…</p>}>
          <DiffView file={change.file} patch={change.patch} />
        </Suspense>
      );
    case 'whole':
      return (
        <figure className="whole-text">
          <figcaption>
            <code>{change.file}</code> <small>as a whole, whatever it holds now</small>
          </figcaption>
          <pre tabIndex={0}>{change.text}</pre>
        </figure>
      );
  }
}
