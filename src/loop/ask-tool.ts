import { LazyAbort } from '../base/lazy-abort.ts';
import type { JsonObject, Json } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { Part } from '../domain/content.ts';
import type { Tool, ToolContext } from '../kernel/running-tool.ts';
import { deny, type Deny, type Hold, type Judgement, type Questions } from '../kernel/verdict.ts';
import { toolContext } from './tool-context.ts';
import type { Work } from './work.ts';

type Judged = Judgement<Questions['before:tool.invoke']>;

/** Milliseconds that a tool has to say what it thinks of arguments, or to show what they would do. */
const MOST_MS = 10_000;

/**
 * The gates' word together with the tool's own, which is asked last and of what would really run: deny beats hold beats
 * allow here, too. A tool that throws, hangs or says something else is a deny, as a gate is.
 */
export function withOwnWord(work: Work, action: string, tool: Tool, judged: Judged): MaybePromise<Judged> {
  if (tool.judge === undefined || judged.outcome === 'deny') return judged;
  const gate = tool.definition.name;
  const asked = asking(work, action, (context) => tool.judge?.(judged.payload.arguments as JsonObject, context)); // validated
  const add = (said: Said<Deny | Hold | undefined>): Judged => {
    if (said.ok && said.value === undefined) return judged;
    const own = said.ok ? said.value : undefined;
    if (own?.verdict === 'hold' && typeof own.question === 'string') {
      const verdict = { gate, verdict: 'hold', reason: own.question } as const;
      return {
        ...judged,
        outcome: 'hold',
        holds: [...judged.holds, { ...own, gate }],
        verdicts: [...judged.verdicts, verdict],
      };
    }
    const { reason, code } =
      own?.verdict === 'deny' ? own : deny(said.ok ? 'it said nothing that counts' : said.why, 'gate_failed');
    const verdict = { gate, verdict: 'deny', reason, code } as const;
    return {
      ...judged,
      outcome: 'deny',
      denial: code === undefined ? { gate, reason } : { gate, reason, code },
      verdicts: [...judged.verdicts, verdict],
    };
  };
  return isPromise(asked) ? asked.then(add) : add(asked);
}

/** What the tool shows a person who is asked. Nothing, where it cannot: the arguments are shown in any case. */
export function previewOf(work: Work, action: string, tool: Tool, args: Json): MaybePromise<readonly Part[]> {
  if (tool.preview === undefined) return [];
  const shown = asking(work, action, (context) => tool.preview?.(args as JsonObject, context) ?? []); // validated
  return isPromise(shown) ? shown.then((said) => (said.ok ? said.value : [])) : shown.ok ? shown.value : [];
}

type Said<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

function asking<T>(work: Work, action: string, ask: (context: ToolContext) => MaybePromise<T>): MaybePromise<Said<T>> {
  const abort = new LazyAbort();
  const context = toolContext(work, action, { abort, progress: () => undefined });
  const failed = (error: unknown): Said<T> => ({
    ok: false,
    why: error instanceof Error ? error.message : String(error),
  });
  try {
    const asked = ask(context);
    if (!isPromise(asked)) return { ok: true, value: asked };
    return new Promise((resolve) => {
      const release = work.ports.clock.after(MOST_MS, () => {
        abort.abort();
        resolve({ ok: false, why: `no word within ${MOST_MS} ms` });
      });
      asked
        .then((value): Said<T> => ({ ok: true, value }), failed)
        .then((said) => {
          release();
          resolve(said);
        }, failed);
    });
  } catch (error) {
    return failed(error);
  }
}
