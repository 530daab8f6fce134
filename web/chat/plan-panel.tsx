import { ListChecks } from 'lucide-react';

export interface PlanStep {
  readonly title: string;
  readonly detail?: string | undefined;
}

export function PlanPanel({
  title,
  steps,
  source,
}: {
  readonly title: string;
  readonly steps: readonly PlanStep[];
  readonly source: string;
}) {
  return (
    <section className="plan" aria-label="Plan">
      <header>
        <ListChecks size={16} aria-hidden />
        <span>{title === '' ? 'Plan' : title}</span>
        <small>{source}</small>
      </header>
      <ol>
        {steps.map((step, index) => (
          <li key={index}>
            {step.title}
            {step.detail === undefined ? null : <small>{step.detail}</small>}
          </li>
        ))}
      </ol>
    </section>
  );
}
