import { lazy, Suspense } from 'react';
import type { ActionData } from '../api/types.ts';
import { RemoteImage } from '../ui/remote-image.tsx';
import { isPatch } from '../state/changes.ts';

const DiffView = lazy(async () => ({ default: (await import('../ui/diff-view.tsx')).DiffView }));

type Part = NonNullable<NonNullable<ActionData['observation']>['content']>[number];

/** A part of what an action brought: changes of files as such, images that came by value; what is elsewhere is only named. */
export function ResultPart({ part }: { readonly part: Part }) {
  if (part.type === 'text')
    return isPatch(part.text) ? (
      <Suspense fallback={<p className="remark">Comparing…</p>}>
        <DiffView patch={part.text} />
      </Suspense>
    ) : (
      <pre className="plain-output" tabIndex={0}>
        {part.text}
      </pre>
    );
  const { mediaType, name, data, url } = part;
  if (data !== undefined && IMAGES.has(mediaType))
    return <img className="result-image" src={`data:${mediaType};base64,${data}`} alt={name ?? 'An image'} />;
  if (url !== undefined && IMAGES.has(mediaType)) return <RemoteImage key={url} src={url} alt={name ?? 'An image'} />;
  if (url !== undefined)
    return (
      <p className="remark">
        <a href={url} target="_blank" rel="noreferrer noopener nofollow">
          {name ?? url}
        </a>{' '}
        ({mediaType}, not loaded)
      </p>
    );
  return (
    <p className="remark">
      {name ?? 'A file'} ({mediaType})
    </p>
  );
}

/** Pixels only: a drawing in SVG may hold more than a picture. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
