import { Check, Circle, CircleSlash, ListChecks, LoaderCircle, X } from 'lucide-react';

export interface PlanStep {
  readonly title: string;
  readonly detail?: string | undefined;
  readonly status?: 'doing' | 'done' | 'failed' | 'skipped' | undefined;
  readonly note?: string | undefined;
  /** What is asked to become of it. */
  readonly change?: 'new' | 'dropped' | 'marked' | undefined;
}

const CHANGES = { new: 'new', dropped: 'dropped', marked: 'changes' } as const;

const ICONS = { doing: LoaderCircle, done: Check, failed: X, skipped: CircleSlash, open: Circle } as const;

export function PlanPanel({
  title,
  steps,
  source,
}: {
  readonly title: string;
  readonly steps: readonly PlanStep[];
  readonly source: string;
}) {
  const isBegun = steps.some(({ status }) => status !== undefined);
  return (
    <section className="plan" aria-label="Plan">
      <header>
        <ListChecks size={16} aria-hidden />
        <span>{title === '' ? 'Plan' : title}</span>
        <small>{source}</small>
      </header>
      <ol>
        {steps.map((step, index) => (
          <li key={index} data-status={step.status ?? 'open'} data-change={step.change}>
            {isBegun ? <State status={step.status ?? 'open'} /> : null}
            {step.change === 'dropped' ? <del>{step.title}</del> : step.title}
            {step.change === undefined ? null : <span className="plan-change">{CHANGES[step.change]}</span>}
            {step.detail === undefined ? null : <small>{step.detail}</small>}
            {step.note === undefined ? null : <small className="plan-note">{step.note}</small>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function State({ status }: { readonly status: keyof typeof ICONS }) {
  const Icon = ICONS[status];
  return <Icon size={14} className="plan-state" role="img" aria-label={status} aria-hidden={false} />;
}
