import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { api } from '../api/calls.ts';
import type { ModelCall } from '../api/operate-types.ts';
import type { Prompt, PromptSection } from '../api/types.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { money, tokens } from '../ui/amounts.ts';
import { nameOf } from './tokens.tsx';

const DiffView = lazy(async () => ({ default: (await import('../ui/diff-view.tsx')).DiffView }));

/** Calls that decide: what a model is shown for a summary or a plan is no prompt of the agent. */
const ASIDES: ReadonlySet<string | undefined> = new Set(['plan', 'compact']);

/** What the model saw, call by call: sections with their digests, what was read from a cache, and which of them changed. */
export function Prompts({ id, calls }: { readonly id: string; readonly calls: readonly ModelCall[] }) {
  // Of several attempts the last one counts: that is the one that a prompt can be asked for.
  const shown = calls.filter(
    (one, index) =>
      !ASIDES.has(one.purpose) &&
      !calls.slice(index + 1).some((later) => later.turn === one.turn && later.iteration === one.iteration),
  );
  const [search, setSearch] = useSearchParams();
  const wanted = shown.findIndex((one) => `${one.turn}.${one.iteration}` === search.get('call'));
  const index = wanted < 0 ? shown.length - 1 : wanted;
  const call = shown[index];
  const list = useRef<HTMLOListElement>(null);
  const choose = (place: number): void => {
    const one = shown[place];
    if (one === undefined) return;
    setSearch({ tab: 'prompts', call: `${one.turn}.${one.iteration}` }, { replace: true });
    list.current?.querySelectorAll('button')[place]?.focus();
  };
  if (call === undefined)
    return (
      <Notice title="No model was called yet">
        <p>What it was shown will stand here.</p>
      </Notice>
    );
  return (
    <div className="prompts">
      <ol
        ref={list}
        className="call-list"
        aria-label="Model calls"
        onKeyDown={({ key }) => {
          if (key === 'ArrowRight') choose(index + 1);
          if (key === 'ArrowLeft') choose(index - 1);
        }}
      >
        {shown.map((one, place) => (
          <li key={one.seq}>
            <button
              type="button"
              aria-current={place === index}
              data-cold={one.cold !== undefined}
              title={one.cold === undefined ? undefined : 'This call was cold'}
              onClick={() => {
                choose(place);
              }}
            >
              {nameOf(one)}
            </button>
          </li>
        ))}
      </ol>
      <PromptOf id={id} call={call} before={shown[index - 1]} />
    </div>
  );
}

function usePrompt(id: string, call: ModelCall | undefined) {
  return useQuery({
    queryKey: ['prompt', id, call?.turn, call?.iteration, call?.attempt],
    queryFn: () => (call === undefined ? null : api.prompt(id, call.turn, call.iteration)),
    // What a call was shown never changes; what it was billed comes with its end.
    staleTime: call?.ms === undefined ? 0 : Infinity,
  });
}

function PromptOf({
  id,
  call,
  before,
}: {
  readonly id: string;
  readonly call: ModelCall;
  readonly before: ModelCall | undefined;
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
  if (prompt.data === undefined || prompt.data === null) return <Skeleton kind="rows" count={8} />;
  const { sections, cache, model, role, messages } = prompt.data;
  const known = new Map(previous.data?.sections.map((one) => [one.name, one]));
  const isFirst = before === undefined;
  return (
    <div className="prompt">
      <p className="prompt-about">
        {model.provider} {model.model} · role {role} · attempt {prompt.data.attempt} · {money(call.cost?.amount)}
        {cache.expectedRead === undefined
          ? ''
          : ` · expected ${tokens(cache.expectedRead)} from the cache, got ${tokens(prompt.data.usage?.cacheRead ?? 0)}`}
      </p>
      {cache.cold === undefined ? null : (
        <aside className="finding" data-tone="wait">
          <strong>This call was cold:</strong> {cache.cold.what}.
        </aside>
      )}
      <Strip prompt={prompt.data} />
      <div className="sections">
        {sections
          .filter(({ bytes }) => bytes > 0)
          .map((section) => (
            <Section key={section.name} section={section} before={known.get(section.name)} isFirst={isFirst} />
          ))}
      </div>
      <Empty sections={sections.filter(({ bytes }) => bytes === 0)} />
      <Messages now={JSON.stringify(messages, null, 2)} before={pretty(previous.data?.messages)} />
    </div>
  );
}

function Empty({ sections }: { readonly sections: readonly PromptSection[] }) {
  if (sections.length === 0) return null;
  return <p className="remark">Empty in this prompt: {sections.map(({ name }) => name).join(', ')}.</p>;
}

function pretty(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value, null, 2);
}

/** The prompt as long as it is: what of it was read from the cache, and where the markers stand. */
function Strip({ prompt: { sections, cache } }: { readonly prompt: Prompt }) {
  const bytes = sections.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes === 0) return null;
  return (
    <figure className="strip">
      <div
        className="strip-bar"
        role="img"
        aria-label={`The prompt: ${bytes.toLocaleString()} bytes in ${sections.length} sections`}
      >
        {sections
          .filter((one) => one.bytes > 0)
          .map((one) => (
            <span
              key={one.name}
              data-read={one.read ?? 'unknown'}
              style={{ flexGrow: one.bytes }}
              title={`${one.name}: ${one.bytes.toLocaleString()} bytes`}
            >
              {one.bytes / bytes > 0.09 ? one.name : ''}
            </span>
          ))}
      </div>
      <figcaption>
        <ul className="legend" aria-label="Colours">
          <li>
            <span className="swatch" data-read="yes" aria-hidden /> read from the cache
          </li>
          <li>
            <span className="swatch" data-read="partly" aria-hidden /> in part
          </li>
          <li>
            <span className="swatch" data-read="no" aria-hidden /> read anew
          </li>
          <li>
            <span className="swatch" data-read="unknown" aria-hidden /> nobody said
          </li>
        </ul>
        {cache.markers === undefined || cache.markers.length === 0 ? null : (
          <p>Markers after: {cache.markers.join(', ')}.</p>
        )}
        {cache.unmarked?.map((why) => (
          <p key={why}>No marker at {why}.</p>
        ))}
      </figcaption>
    </figure>
  );
}

const READ = { yes: 'from the cache', partly: 'in part from the cache', no: 'read anew' } as const;

function Section({
  section,
  before,
  isFirst,
}: {
  readonly section: PromptSection;
  readonly before: PromptSection | undefined;
  readonly isFirst: boolean;
}) {
  const { name, lifetime, digest, bytes, cached, read, text } = section;
  const change = isFirst ? '' : before === undefined ? 'new' : before.digest === digest ? 'unchanged' : 'changed';
  return (
    <details className="section" data-change={change}>
      <summary>
        <strong>{name}</strong>
        <span>stays for the {lifetime}</span>
        <span>{read === undefined ? (cached ? 'may be cached' : 'sent anew') : READ[read]}</span>
        <span>{bytes.toLocaleString()} bytes</span>
        <code title={`sha256 ${digest}`}>{digest.slice(0, 10)}</code>
        <span className="section-change">{change}</span>
      </summary>
      <Body now={text} before={change === 'changed' ? before?.text : undefined} />
    </details>
  );
}

function Messages({ now, before }: { readonly now: string; readonly before: string | undefined }) {
  return (
    <details className="section">
      <summary>
        <strong>messages</strong>
        <span>as they are sent</span>
        <span />
        <span>{now.length.toLocaleString()} characters</span>
      </summary>
      <Body now={now} before={before === now ? undefined : before} />
    </details>
  );
}

/** The text, or what changed in it since the call before. */
function Body({ now, before }: { readonly now: string; readonly before: string | undefined }) {
  const [isDiff, setDiff] = useState(true);
  const text = (
    <div className="section-text">
      <CopyButton text={now} label="Copy this section" />
      <pre tabIndex={0}>{now}</pre>
    </div>
  );
  if (before === undefined) return text;
  return (
    <div className="section-body">
      <div className="segments" role="group" aria-label="How to show it">
        <button
          type="button"
          aria-pressed={isDiff}
          onClick={() => {
            setDiff(true);
          }}
        >
          What changed
        </button>
        <button
          type="button"
          aria-pressed={!isDiff}
          onClick={() => {
            setDiff(false);
          }}
        >
          All of it
        </button>
      </div>
      {isDiff ? (
        <Suspense fallback={<p className="remark">Comparing…</p>}>
          <DiffView before={before} after={now} file="since the call before" />
        </Suspense>
      ) : (
        text
      )}
    </div>
  );
}
