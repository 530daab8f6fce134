import type { Clock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { ModelFailure } from '../../domain/model.ts';
import type { Usage } from '../../domain/usage.ts';
import type { Model } from '../../kernel/model.ts';
import { failedStream } from './failed-stream.ts';
import { compileReply, finishOf, type CompiledReply } from './reply.ts';
import { ScriptedStream } from './scripted-stream.ts';
import {
  checkReply,
  checkScript,
  ScriptView,
  type CheckedScript,
  type Reply,
  type Script,
  type ScriptFunction,
} from './script.ts';
import { fillReply, hasTemplate } from './template.ts';
import { TranscriptMemory, type TranscriptCounts } from './transcript-memory.ts';

export interface ScriptedOptions {
  readonly clock: Clock;
  /** Milliseconds before the first part of each reply that does not say. */
  readonly delayMs?: number | undefined;
  /** Milliseconds before each further piece. The text comes in small pieces then. */
  readonly paceMs?: number | undefined;
}

/** Characters of a piece when a pace is asked for and the reply does not say: about a word. */
const PACED_CHUNK = 6;

/** Chooses a reply. `skipped` replies with a fault were used up by calls that left no answer in the transcript. */
type Choose = (view: ScriptView, skipped: number) => CompiledReply | ModelFailure;

/**
 * A model that says what a script says: for the first run, tests, simulations and benchmarks.
 *
 * Deterministic: the reply is a function of the transcript, so another process goes on where this one stopped. The one
 * exception is a reply with a fault: when the same call comes again the next reply is given, which only this process
 * remembers. Usage is one token for four characters; what the conversation sent before counts as read from a cache.
 * Throws `script_invalid`.
 */
export function createScriptedModel(script: Script, options: ScriptedOptions): Model {
  const chunk = options.paceMs === undefined ? undefined : PACED_CHUNK;
  const checked = typeof script === 'function' ? undefined : checkScript(script);
  const choose = checked === undefined ? fromFunction(script as ScriptFunction, chunk) : fromData(checked, chunk);
  const memory = new TranscriptMemory();
  const faults = new FaultMemory(checked?.whole !== true);
  return {
    call(request, context) {
      const { conversationId } = context;
      const counts = memory.see(conversationId, request);
      const view = new ScriptView(request, conversationId, counts.replies, counts.step);
      const chosen = choose(view, faults.skipped(conversationId, counts));
      if ('class' in chosen) return failedStream(chosen);
      faults.note(conversationId, counts, chosen.end !== 'finish');
      const end =
        chosen.end === 'finish' ? finishOf(chosen, chosen.reply.usage ?? usageOf(chosen, counts)) : chosen.end;
      const delayMs = chosen.reply.delayMs ?? options.delayMs ?? 0;
      const paceMs = chosen.reply.paceMs ?? options.paceMs ?? 0;
      return new ScriptedStream(chosen.parts, end, { delayMs, paceMs, context, clock: options.clock });
    },
  };
}

const CHARACTERS_PER_TOKEN = 4;

function usageOf({ spoken, thought }: CompiledReply, { characters, repeated }: TranscriptCounts): Usage {
  const cacheRead = Math.floor(repeated / CHARACTERS_PER_TOKEN);
  const usage: Usage = {
    input: Math.ceil(characters / CHARACTERS_PER_TOKEN) - cacheRead,
    cacheRead,
    output: Math.ceil(spoken / CHARACTERS_PER_TOKEN),
  };
  if (thought > 0) usage.reasoning = Math.ceil(thought / CHARACTERS_PER_TOKEN);
  return usage;
}

function fromFunction(script: (view: ScriptView) => Reply, chunk: number | undefined): Choose {
  return (view) => {
    try {
      return compileReply(checkReply(script(view)), chunk);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { class: 'bad_request', message: TreadleError.is(error) ? message : `The script threw: ${message}` };
    }
  };
}

function fromData(script: CheckedScript, chunk: number | undefined): Choose {
  const compiled = new Map<Reply, CompiledReply | undefined>(); // undefined: has templates, compiled at each call
  const compile = (reply: Reply, view: ScriptView, match: RegExpExecArray | undefined): CompiledReply => {
    if (!compiled.has(reply)) compiled.set(reply, hasTemplate(reply) ? undefined : compileReply(reply, chunk));
    return compiled.get(reply) ?? compileReply(fillReply(reply, view, match), chunk);
  };
  return (view, skipped) => {
    let match: RegExpExecArray | undefined;
    let replies = script.otherwise;
    for (const turn of script.turns) {
      match = turn.when.exec(view.userText) ?? undefined;
      if (match === undefined) continue;
      replies = turn.replies;
      break;
    }
    if (replies === undefined) return noReply(`nothing for ${JSON.stringify(view.userText.slice(0, 80))}`);
    const index = (script.whole ? view.replies : view.step) + skipped;
    // A fault at the end stays: a server that is down does not come back because the script is over.
    const last = replies.at(-1)?.fault === undefined ? undefined : replies.at(-1);
    const reply = replies[script.repeat ? index % replies.length : index] ?? last;
    return reply === undefined ? noReply(`no reply ${index + 1}`) : compile(reply, view, match);
  };
}

function noReply(what: string): ModelFailure {
  return { class: 'bad_request', message: `The script of the scripted model has ${what}.` };
}

/** How many replies with a fault each conversation has used up. Only conversations that met one are remembered. */
class FaultMemory {
  readonly #met = new Map<
    string,
    { readonly replies: number; readonly turn: number; readonly skipped: number; readonly faulted: boolean }
  >();
  readonly #perTurn: boolean;

  constructor(perTurn: boolean) {
    this.#perTurn = perTurn;
  }

  skipped(conversationId: string, { replies, step }: TranscriptCounts): number {
    const met = this.#met.get(conversationId);
    if (met === undefined || (this.#perTurn && met.turn !== replies - step)) return 0;
    // A fault that left an answer behind, such as half a text, moved the transcript on by itself.
    return met.skipped + Number(met.faulted && met.replies === replies);
  }

  note(conversationId: string, counts: TranscriptCounts, faulted: boolean): void {
    if (!faulted && !this.#met.has(conversationId)) return;
    const skipped = this.skipped(conversationId, counts);
    this.#met.set(conversationId, { replies: counts.replies, turn: counts.replies - counts.step, skipped, faulted });
  }
}
