import type { ReactNode } from 'react';
import '../styles/figures.css';
import '../styles/inspect.css';
import '../styles/operate.css';
import { useTitle } from '../state/use-title.ts';
import { SubNav } from './sub-nav.tsx';

export function OperatePage({
  title,
  about,
  pages,
  children,
}: {
  readonly title: string;
  readonly about: string;
  /** Pages that this one stands among. */
  readonly pages?: readonly { readonly href: string; readonly text: string }[];
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <section className="operate" aria-label={title}>
      <div className="operate-body">
        <header>
          <h1>{title}</h1>
          <p>{about}</p>
          {pages === undefined ? null : <SubNav label={`Pages beside ${title}`} pages={pages} />}
        </header>
        {children}
      </div>
    </section>
  );
}
