import { Collapsible } from '@base-ui/react/collapsible';
import { ChevronRight } from 'lucide-react';
import { useFold } from '../state/kept.ts';
import type { Source } from '../state/sources.ts';

/** What an answer rests on. Nothing is fetched from there: no picture, no name of the page, before somebody follows a link. */
export function Sources({ id, sources }: { readonly id: string; readonly sources: readonly Source[] }) {
  const cited = sources.filter((one) => one.isCited).length;
  const fold = useFold(`sources ${id}`, cited > 0 && cited <= 4);
  if (sources.length === 0) return null;
  const hosts = [...new Set(sources.map((one) => one.host.replace(/^www\./, '')))];
  return (
    <Collapsible.Root className="sources" {...fold}>
      <Collapsible.Trigger className="folded-head">
        <ChevronRight className="fold-mark" size={15} aria-hidden />
        <span>{sources.length === 1 ? 'One source' : `${sources.length} sources`}</span>
        <span className="sources-hosts">{hosts.slice(0, 3).join(', ')}</span>
      </Collapsible.Trigger>
      <Collapsible.Panel>
        <ol aria-label="Sources">
          {sources.map(({ url, title, host, isCited }, index) => (
            <li key={url} data-cited={isCited}>
              <span className="source-number" aria-hidden>
                {index + 1}
              </span>
              <a href={url} target="_blank" rel="noreferrer noopener nofollow">
                {title}
              </a>
              {title === host ? null : <small>{host}</small>}
            </li>
          ))}
        </ol>
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}
