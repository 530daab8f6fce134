import type { AgentDetails } from '../api/operate-types.ts';
import { Notice } from '../ui/notice.tsx';
import { Ticked } from '../ui/ticked.tsx';

/** The plugins that are active, and what each registered: that is what it can do. Gates come in the order in which they are asked. */
export function AgentPlugins({ plugins }: { readonly plugins: AgentDetails['plugins'] }) {
  if (plugins.length === 0) return <Notice title="No plugin is active" />;
  const first = (one: AgentDetails['plugins'][number]): number =>
    Math.min(...one.judges.map(({ priority }) => priority), Infinity);
  const ordered = plugins.toSorted((left, right) => first(left) - first(right));
  return (
    <ol className="plugin-list">
      {ordered.map(({ id, about, judges, answers, announces, listens }) => (
        <li key={id}>
          <div>
            <h3>
              <code>{id}</code>
            </h3>
            <p>
              <Ticked text={about} />
            </p>
          </div>
          <dl>
            <Registered name="Judges" of={judges.map(({ question, priority }) => `${question} at ${priority}`)} />
            <Registered name="Answers" of={answers} />
            <Registered name="Tells the model" of={announces.map((title) => `[${title}]`)} />
            <Registered name="Hears" of={listens} />
          </dl>
        </li>
      ))}
    </ol>
  );
}

function Registered({ name, of }: { readonly name: string; readonly of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {of.map((one) => (
          <code key={one}>{one}</code>
        ))}
      </dd>
    </div>
  );
}
