import { useMutation } from '@tanstack/react-query';
import { operate } from '../api/operate.ts';
import type { EditPlan } from '../api/operate-types.ts';
import { BundleForm, Mistakes } from '../ui/bundle-form.tsx';
import { money, tokens } from '../ui/amounts.ts';

/** An edited bundle, and what it would do before anybody saves it: what widens, what costs a cold turn, what is free. */
export function EditPanel({ agent }: { readonly agent: string }) {
  const plan = useMutation({ mutationFn: (text: string) => operate.planEdit(agent, text) });
  return (
    <BundleForm
      rows={14}
      placeholder={'id: desk@1\nconfig:\n  react:\n    main: …'}
      about={
        <>
          The whole bundle, edited. Nothing is saved and nothing changes: you see what <code>treadle plan</code> would
          say.
        </>
      }
      submit={() => (plan.isPending ? 'Looking…' : 'What would it do?')}
      blocked={(text) => (text === '' ? 'Paste the bundle or choose its file first.' : undefined)}
      isBusy={plan.isPending}
      onSubmit={(text) => {
        plan.mutate(text);
      }}
    >
      {plan.isError ? <Mistakes error={plan.error} /> : null}
      {plan.data === undefined ? null : <Plan plan={plan.data} />}
    </BundleForm>
  );
}

const KINDS = {
  widens: { word: 'widens', tone: 'wait' },
  narrows: { word: 'narrows', tone: 'good' },
  rewrites: { word: 'cold turn', tone: 'accent' },
  free: { word: 'free', tone: 'plain' },
} as const;

function Plan({ plan: { changes, agents, notes, before, after } }: { readonly plan: EditPlan }) {
  const shown = agents.filter((one) => one.changes.length > 0);
  return (
    <div className="plan-report" role="status">
      <h3>
        {changes.length + shown.length === 0
          ? before === after
            ? 'Nothing is different.'
            : 'Nothing that agents may do, say or cost is different.'
          : 'What it would do'}
      </h3>
      {notes.map((note) => (
        <aside key={note} className="finding" data-tone="wait">
          {note}.
        </aside>
      ))}
      <Changes of={changes} />
      {shown.map((one) => (
        <section key={one.agent}>
          <h4>{one.agent}</h4>
          <Changes of={one.changes} />
          <p className="plan-cost">{costInWords(one)}</p>
        </section>
      ))}
    </div>
  );
}

function Changes({ of }: { readonly of: EditPlan['changes'] }) {
  if (of.length === 0) return null;
  return (
    <ul className="change-list">
      {of.map(({ kind, what }) => (
        <li key={`${kind} ${what}`}>
          <span className="chip" data-tone={KINDS[kind].tone}>
            {KINDS[kind].word}
          </span>
          {what}
        </li>
      ))}
    </ul>
  );
}

function costInWords({ changes, active, cold, consequence }: EditPlan['agents'][number]): string {
  if (!changes.some(({ kind }) => kind === 'rewrites')) return 'No prompt becomes cold.';
  if (active === 0) return 'The next prompts are written anew. Nobody is talking, so nothing is lost.';
  if (cold === 0)
    return `The next prompts are written anew. Of ${active} active conversations none is warm, so nothing is lost.`;
  const price =
    consequence.money?.rebuild === undefined
      ? 'at a price that nobody knows'
      : `about ${money(consequence.money.rebuild)}`;
  const until = consequence.assumes.warmUntil;
  return `${cold} of ${active} active conversations are warm: one cold turn each, ${tokens(consequence.tokens)} cached tokens in all, ${price}.${
    until === undefined ? '' : ` Free after ${new Date(until).toLocaleTimeString()}.`
  }`;
}
