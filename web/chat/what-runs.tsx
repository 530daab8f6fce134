import { lazy, Suspense } from 'react';
import type { Json } from '../api/types.ts';
import { changesIn, type Change } from '../state/changes.ts';
import { JsonView } from '../ui/json-view.tsx';

const DiffView = lazy(async () => ({ default: (await import('../ui/diff-view.tsx')).DiffView }));

/** The arguments of an action: what they would write as a change of it, everything else by name. */
export function WhatRuns({ given }: { readonly given: Json }) {
  const { changes, rest } = changesIn(given);
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
