import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { operate } from '../api/operate.ts';
import type { ReplayReport } from '../api/operate-types.ts';
import { useIsAdmin } from '../operate/use-caller.ts';
import { Button } from '../ui/button.tsx';
import { BundleForm, Mistakes } from '../ui/bundle-form.tsx';
import { Figures } from '../ui/figures.tsx';
import { Segments } from '../ui/segments.tsx';

const RULES = [
  { value: 'own', label: 'Its own rules' },
  { value: 'other', label: 'Another bundle' },
] as const;

const DiffView = lazy(async () => ({ default: (await import('../ui/diff-view.tsx')).DiffView }));

/**
 * The run once more, offline: by the rules that it had, or by those of another bundle. Models and tools answer what they
 * answered then; what would have been asked for otherwise is told.
 */
export function Replay({ id }: { readonly id: string }) {
  const replay = useMutation({
    mutationFn: (text: string) => operate.replay(id, text === '' ? undefined : text),
  });
  const isAdmin = useIsAdmin();
  const [rules, setRules] = useState<'own' | 'other'>('own');
  return (
    <div className="replay">
      <p className="replay-about">
        The run once more, offline: no model and no tool is asked, they answer what they answered then. You see what
        would have been asked for otherwise, prompt by prompt.
      </p>
      <Segments
        label="By which rules"
        value={rules}
        options={RULES}
        onChange={(next) => {
          setRules(next);
          replay.reset();
        }}
      />
      {rules === 'own' ? (
        <div className="replay-own">
          <p>Holds the run against its own log: whether it still comes out as it was written.</p>
          <Button
            look="solid"
            disabled={replay.isPending}
            onClick={() => {
              replay.mutate('');
            }}
          >
            {replay.isPending ? 'Replaying…' : 'Replay by its own rules'}
          </Button>
        </div>
      ) : isAdmin ? (
        <BundleForm
          rows={10}
          placeholder={'id: desk@1\nconfig:\n  react:\n    main: …'}
          about="A bundle to replay this run under, such as an edit of its own."
          submit={() => (replay.isPending ? 'Replaying…' : 'Replay under this bundle')}
          blocked={(text) => (text === '' ? 'Paste a bundle or choose a file first.' : undefined)}
          isBusy={replay.isPending}
          onSubmit={(text) => {
            replay.mutate(text);
          }}
        >
          {null}
        </BundleForm>
      ) : (
        <p className="remark">Another bundle is for keys with the scope “admin”: it could read what yours may not.</p>
      )}
      {replay.isError ? <Mistakes error={replay.error} /> : null}
      {replay.data === undefined ? null : <Report report={replay.data} />}
    </div>
  );
}

function Report({ report }: { readonly report: ReplayReport }) {
  const { same, calls, actions, verdicts, ended, beyond, notes } = report;
  const others = calls.filter((one) => !one.same);
  const ends = ended.filter((one) => !one.same);
  return (
    <div className="replay-report" role="status">
      <h3>{same ? 'Everything would be the same.' : 'It would go otherwise.'}</h3>
      <Figures
        of={[
          { name: 'Model calls that differ', value: `${others.length} of ${calls.length}` },
          { name: 'Actions that fare otherwise', value: String(actions.length) },
          { name: 'Verdicts that differ', value: String(verdicts.length) },
          { name: 'Turns that end otherwise', value: `${ends.length} of ${ended.length}` },
        ]}
      />
      <ol className="replay-calls" aria-label="Model calls, one after another">
        {calls.map((one) => (
          <li
            key={one.n}
            data-same={one.same}
            title={`Call ${one.turn}.${one.iteration}: ${one.same ? 'the same' : 'another'}`}
          >
            {one.turn}.{one.iteration}
            {one.attempt > 1 ? ` #${one.attempt}` : ''}
          </li>
        ))}
      </ol>
      {beyond === undefined ? null : (
        <aside className="finding" data-tone="wait">
          <strong>
            Call {beyond.turn}.{beyond.iteration} was never made.
          </strong>{' '}
          Here the replay ended: nobody knows what the model would say.
        </aside>
      )}
      {notes.map((note) => (
        <aside key={note} className="finding">
          {note}
        </aside>
      ))}
      {others.map((one) => (
        <details key={one.n} className="section" open={one === others[0]}>
          <summary>
            <strong>
              Call {one.turn}.{one.iteration}
              {one.attempt > 1 ? `, attempt ${one.attempt}` : ''}
            </strong>
            <span>{one.differences.map(({ section }) => section).join(', ')}</span>
          </summary>
          <div className="section-body">
            {one.differences.map(({ section, what, before, after }) => (
              <div key={`${section} ${what}`} className="replay-difference">
                <p>
                  <strong>{section}</strong> {what}
                </p>
                <Suspense fallback={<p className="remark">Comparing…</p>}>
                  <DiffView before={before} after={after} file={section} />
                </Suspense>
              </div>
            ))}
          </div>
        </details>
      ))}
      <Otherwise
        name="Actions"
        rows={actions.map(({ action, name, before, after }) => ({ key: action, about: name, before, after }))}
      />
      <Otherwise
        name="Verdicts"
        rows={verdicts.map(({ turn, question, action, before, after }, index) => ({
          key: String(index),
          about: `${action ?? question} in turn ${turn}`,
          before: before ?? 'nobody objected',
          after: after ?? 'nobody objected',
        }))}
      />
      <Otherwise
        name="Turns"
        rows={ends.map(({ turn, before, after }) => ({
          key: String(turn),
          about: `turn ${turn}`,
          before: before === undefined ? 'goes on' : endInWords(before),
          after: after === undefined ? 'goes on' : endInWords(after),
        }))}
      />
    </div>
  );
}

function endInWords({ status, message, answer }: NonNullable<ReplayReport['ended'][number]['before']>): string {
  return [status.replaceAll('_', ' '), message ?? answer ?? ''].filter((part) => part !== '').join(': ');
}

function Otherwise({
  name,
  rows,
}: {
  readonly name: string;
  readonly rows: readonly {
    readonly key: string;
    readonly about: string;
    readonly before: string | undefined;
    readonly after: string | undefined;
  }[];
}) {
  if (rows.length === 0) return null;
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={name}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col">Then</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, about, before, after }) => (
            <tr key={key}>
              <th scope="row">{about}</th>
              <td>{before ?? 'not asked for'}</td>
              <td>{after ?? 'not asked for'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
