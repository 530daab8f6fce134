import { Collapsible } from '@base-ui/react/collapsible';
import { Check, ChevronRight, CircleSlash, Clock3, HelpCircle, LoaderCircle, X } from 'lucide-react';
import type { ActionData } from '../api/types.ts';
import { duration } from '../clock.ts';
import { useFold } from '../state/kept.ts';
import { JsonView, jsonInWords } from '../ui/json-view.tsx';
import { ResultPart } from './result-part.tsx';
import { WhatRuns } from './what-runs.tsx';

export interface ActionCardProps {
  /** Its entry's. */
  readonly id: string;
  readonly data: ActionData;
  /** The last that a running action said of itself. */
  readonly progress: string | undefined;
}

/** One action, folded: what it is, with what, how it came out. Open: everything about it. */
export function ActionCard({ id, data, progress }: ActionCardProps) {
  const fold = useFold(id);
  const { name, arguments: given, askedFor, revisedBy, observation, ms, verdicts, requests } = data;
  const answered = requests.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  return (
    <Collapsible.Root className="action" {...fold} data-state-of-action={toneOf(data)}>
      <Collapsible.Trigger className="action-head">
        <ActionIcon data={data} />
        <span className="action-name">{name}</span>
        {data.by === 'provider' ? (
          <small title="The model’s provider did it: no gate and no person was asked">by the provider</small>
        ) : null}
        <span className="action-brief">
          {data.state === 'running' && progress !== undefined ? progress : jsonInWords(given)}
        </span>
        <span className="action-time">{ms === undefined ? '' : duration(ms)}</span>
        <ChevronRight className="fold-mark" size={15} aria-hidden />
      </Collapsible.Trigger>
      <Collapsible.Panel className="action-body">
        <Part title={askedFor === undefined ? 'Arguments' : `Arguments, changed by ${revisedBy ?? 'a gate'}`}>
          <WhatRuns given={given} />
        </Part>
        {askedFor === undefined ? null : (
          <Part title="The model asked for">
            <JsonView value={askedFor} />
          </Part>
        )}
        {observation === undefined ? null : (
          <Part title={OUTCOMES[observation.outcome]}>
            {observation.error === undefined ? (
              <>
                {observation.value === undefined ? null : <JsonView value={observation.value} />}
                {observation.content?.map((part, index) => (
                  <ResultPart key={index} part={part} />
                ))}
              </>
            ) : (
              <p>{observation.error.message}</p>
            )}
          </Part>
        )}
        {verdicts.length + answered.length === 0 ? null : (
          <Part title="Who decided">
            <ul className="verdicts">
              {verdicts.map((verdict, index) => (
                <li key={`v${index}`}>
                  {verdict.gate} {VERDICTS[verdict.verdict]}
                  {verdict.reason === undefined ? '' : `: ${verdict.reason}`}
                </li>
              ))}
              {answered.map((answer) => (
                <li key={answer.request}>
                  {answer.by === 'local' ? 'You' : answer.by} {ANSWERS[answer.decision]}
                  {answer.allow === undefined ? '' : REACHES[answer.allow]}
                  {answer.note === undefined ? '' : `: ${answer.note}`}
                </li>
              ))}
            </ul>
          </Part>
        )}
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section className="action-part">
      <h4>{title}</h4>
      {children}
    </section>
  );
}

const OUTCOMES = {
  ok: 'Result',
  failed: 'Failed',
  invalid: 'Not run: its arguments do not fit',
  refused: 'Refused',
  cancelled: 'Not run',
  unknown: 'Nobody knows whether it happened',
} as const;
const VERDICTS = { deny: 'refused it', hold: 'held it for a person', revise: 'changed it' } as const;
const ANSWERS = {
  allow: 'allowed it',
  reject: 'refused it',
  edit: 'changed it and allowed it',
  reply: 'replied',
} as const;

const REACHES = { once: '', conversation: ' for this conversation', always: ' always' } as const;

function toneOf({ state, observation }: ActionData): 'busy' | 'wait' | 'good' | 'bad' | 'quiet' {
  if (state === 'waiting') return 'wait';
  if (observation === undefined) return state === 'running' ? 'busy' : 'quiet';
  if (observation.outcome === 'ok') return 'good';
  return observation.outcome === 'cancelled' ? 'quiet' : 'bad';
}

function ActionIcon({ data }: { readonly data: ActionData }) {
  const { state, observation } = data;
  const [label, icon] =
    state === 'waiting'
      ? (['waits for you', <Clock3 size={16} />] as const)
      : observation === undefined
        ? (['running', <LoaderCircle size={16} className={state === 'running' ? 'turning' : ''} />] as const)
        : observation.outcome === 'ok'
          ? (['done', <Check size={16} />] as const)
          : observation.outcome === 'unknown'
            ? (['outcome unknown', <HelpCircle size={16} />] as const)
            : observation.outcome === 'failed' || observation.outcome === 'invalid'
              ? (['failed', <X size={16} />] as const)
              : (['not run', <CircleSlash size={16} />] as const);
  return (
    <span className="action-icon" role="img" aria-label={label}>
      {icon}
    </span>
  );
}
