import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api } from '../api/calls.ts';
import type { PromptSection, WireEntry } from '../api/types.ts';
import { dataOf } from '../state/entries.ts';
import { Failure, Notice } from '../ui/notice.tsx';

interface Call {
  readonly turn: number;
  readonly iteration: number;
}

/** What the model saw, call by call: sections with their digests, and which of them changed. */
export function Prompts({ id, entries }: { readonly id: string; readonly entries: readonly WireEntry[] }) {
  const calls = useMemo(() => callsOf(entries), [entries]);
  const [chosen, setChosen] = useState<number>();
  const index = chosen ?? calls.length - 1;
  const call = calls[index];
  if (call === undefined)
    return (
      <Notice title="No model was called yet">
        <p>What it was shown will stand here.</p>
      </Notice>
    );
  return (
    <div className="prompts">
      <ol className="call-list" aria-label="Model calls">
        {calls.map((one, place) => (
          <li key={`${one.turn}.${one.iteration}`}>
            <button
              type="button"
              aria-current={place === index}
              onClick={() => {
                setChosen(place);
              }}
            >
              {one.turn}.{one.iteration}
            </button>
          </li>
        ))}
      </ol>
      <PromptOf id={id} call={call} before={calls[index - 1]} />
    </div>
  );
}

function usePrompt(id: string, call: Call | undefined) {
  return useQuery({
    queryKey: ['prompt', id, call?.turn, call?.iteration],
    queryFn: () => (call === undefined ? null : api.prompt(id, call.turn, call.iteration)),
    staleTime: Infinity,
  });
}

function PromptOf({
  id,
  call,
  before,
}: {
  readonly id: string;
  readonly call: Call;
  readonly before: Call | undefined;
}) {
  const prompt = usePrompt(id, call);
  const previous = usePrompt(id, before);
  if (prompt.isError)
    return (
      <Failure
        error={prompt.error}
        onRetry={() => {
          void prompt.refetch();
        }}
      />
    );
  if (prompt.data === undefined || prompt.data === null) return <p className="loading">Loading…</p>;
  const known = new Map(previous.data?.sections.map((one) => [one.name, one.digest]));
  return (
    <div className="prompt">
      <p className="prompt-about">
        {prompt.data.model.provider} {prompt.data.model.model} · role {prompt.data.role} · attempt {prompt.data.attempt}
      </p>
      {prompt.data.sections.map((section) => (
        <Section key={section.name} section={section} before={known.get(section.name)} />
      ))}
      <details className="section">
        <summary>
          <strong>messages</strong>
          <span>{JSON.stringify(prompt.data.messages).length.toLocaleString()} characters</span>
        </summary>
        <pre tabIndex={0}>{JSON.stringify(prompt.data.messages, null, 2)}</pre>
      </details>
    </div>
  );
}

function Section({ section, before }: { readonly section: PromptSection; readonly before: string | undefined }) {
  const { name, lifetime, digest, bytes, cached, text } = section;
  const change = before === undefined ? 'new' : before === digest ? 'unchanged' : 'changed';
  return (
    <details className="section" data-change={change}>
      <summary>
        <strong>{name}</strong>
        <span>{lifetime}</span>
        <span>{cached ? 'cached' : 'sent anew'}</span>
        <span>{bytes.toLocaleString()} bytes</span>
        <code>{digest.slice(0, 10)}</code>
        <span className="section-change">{change}</span>
      </summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

function callsOf(entries: readonly WireEntry[]): readonly Call[] {
  return entries.flatMap((entry) => {
    const call = dataOf(entry, 'call');
    if (call === undefined || entry.turn === undefined || call.purpose === 'plan' || call.purpose === 'compact')
      return [];
    return { turn: entry.turn, iteration: call.iteration };
  });
}
