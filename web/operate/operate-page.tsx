import type { ReactNode } from 'react';
import '../styles/inspect.css';
import '../styles/operate.css';

export function OperatePage({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about: string;
  readonly children: ReactNode;
}) {
  return (
    <section className="operate" aria-label={title}>
      <div className="operate-body">
        <header>
          <h1>{title}</h1>
          <p>{about}</p>
        </header>
        {children}
      </div>
    </section>
  );
}
