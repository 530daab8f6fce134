import type { Clock } from '../base/clock.ts';
import { toJson, type JsonObject } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import { actionId } from '../domain/decision.ts';
import type { FactPayload } from '../domain/event.ts';
import type { Block, ModelFailure, ModelPart } from '../domain/model.ts';
import type { StopKind } from '../domain/status.ts';
import type { Usage } from '../domain/usage.ts';
import type { ModelStream } from '../kernel/model.ts';

/** One model call as it was heard. With a `failure`, the rest is for the record only. */
export interface Heard {
  readonly content: Block[];
  readonly thoughts: FactPayload<'thinking.step'>[];
  readonly stop: StopKind;
  readonly raw: string | undefined;
  readonly usage: Usage;
  readonly served: string | undefined;
  readonly providerId: string | undefined;
  readonly opaque: JsonObject | undefined;
  readonly failure: ModelFailure | undefined;
}

export interface ListenOptions {
  readonly turnId: string;
  readonly iteration: number;
  readonly clock: Clock;
  readonly idleMs: number;
  /** Every piece of text, thinking and action input as it arrives. */
  readonly onDelta?: ((piece: Piece) => void) | undefined;
  /** Registers what ends the listening early; returns what takes it back. */
  readonly onInterrupt: (callback: () => void) => () => void;
}

/** Some of a block, as it arrives. */
export interface Piece {
  readonly part: string;
  readonly kind: 'text' | 'thinking' | 'action';
  /** Of an action. */
  readonly name: string | undefined;
  /** Which block of its kind it belongs to, from 1. */
  readonly ordinal: number;
  readonly delta: string;
}

/** A block that is being spoken. */
interface Open {
  readonly kind: 'text' | 'thinking' | 'action';
  readonly name: string;
  readonly ordinal: number;
  text: string;
  /** The first half of a character whose second half has not come yet. */
  kept: string;
  opaque: JsonObject | undefined;
  /** The model said that this block is whole. */
  whole: boolean;
}

/**
 * Hear a model call out: put its parts together, in the order they began.
 *
 * Bounded: when nothing arrives for `idleMs` the call is given up. A stream that ends without `finish` is incomplete.
 */
export async function listen(stream: ModelStream, options: ListenOptions): Promise<Heard> {
  const spoken: (Open | Extract<Block, { type: 'file' | 'provider' }>)[] = [];
  const open = new Map<string, Open>();
  let finish: Extract<ModelPart, { type: 'finish' }> | undefined;
  let failure: ModelFailure | undefined;
  let served: string | undefined;
  let providerId: string | undefined;

  function begin(part: string, kind: Open['kind'], name: string): Open {
    const ordinal = spoken.filter((one) => 'kind' in one && one.kind === kind).length + 1;
    const block: Open = { kind, name, ordinal, text: '', kept: '', opaque: undefined, whole: false };
    open.set(part, block);
    spoken.push(block);
    return block;
  }

  function take(part: ModelPart): void {
    switch (part.type) {
      case 'start':
        begin(part.part, part.kind, part.kind === 'action' ? part.name : '');
        return;
      case 'delta': {
        const block = open.get(part.part) ?? begin(part.part, 'text', '');
        block.text += part.delta;
        if (options.onDelta === undefined) return;
        const shown = block.kept + part.delta;
        // Half a character is kept until its other half comes: nobody is shown a lone surrogate.
        const whole = endsInHalf(shown) ? shown.slice(0, -1) : shown;
        block.kept = shown.slice(whole.length);
        if (whole === '') return;
        const { kind, ordinal } = block;
        options.onDelta({
          part: part.part,
          kind,
          name: kind === 'action' ? block.name : undefined,
          ordinal,
          delta: whole,
        });
        return;
      }
      case 'end': {
        const block = open.get(part.part);
        if (block === undefined) return;
        block.whole = true;
        block.opaque = part.opaque ?? block.opaque;
        if (block.kind !== 'action') open.delete(part.part); // a provider may use the id again
        return;
      }
      case 'action': {
        const known = open.get(part.part);
        // One constant id for every call is seen in the wild: a block that is already whole is another call's.
        const block =
          known !== undefined && known.name === part.name && !settled.has(known)
            ? known
            : begin(part.part, 'action', part.name);
        settled.add(block);
        block.text = part.input;
        block.opaque = part.opaque ?? block.opaque;
        block.whole = true;
        return;
      }
      case 'block':
        spoken.push(part.block);
        return;
      case 'served':
        served = part.model ?? served;
        providerId = part.id ?? providerId;
        return;
      case 'finish':
        finish = part;
        return;
      case 'failure':
        failure = part.failure;
        return;
    }
  }
  const settled = new Set<Open>();

  const ended = await pull(stream, take, options);
  failure ??=
    ended ??
    (finish === undefined ? { class: 'incomplete', message: 'the stream ended before the model was done' } : undefined);
  const { content, thoughts } = assemble(spoken, options);
  return {
    content,
    thoughts,
    stop:
      failure === undefined
        ? stopOf(finish, content)
        : failure.class === 'aborted'
          ? 'cancelled'
          : failure.class === 'incomplete'
            ? 'protocol'
            : 'error',
    raw: finish?.raw,
    usage: finish?.usage ?? {},
    served,
    providerId,
    opaque: finish?.opaque,
    failure,
  };
}

/** Pulls until the end, silence or an interruption; says why when it was not the end. */
async function pull(
  stream: ModelStream,
  take: (part: ModelPart) => void,
  { clock, idleMs, onInterrupt }: ListenOptions,
): Promise<ModelFailure | undefined> {
  let stopped: ModelFailure | undefined;
  let wake: (() => void) | undefined;
  const stop = (failure: ModelFailure): void => {
    stopped ??= failure;
    wake?.();
  };
  const off = onInterrupt(() => stop({ class: 'aborted', message: 'the call was interrupted' }));
  let heardAt = 0;
  let release: (() => void) | undefined;
  // One timer that looks back, instead of one for each piece; none for a stream that never makes anybody wait.
  const watch = (ms: number): (() => void) =>
    clock.after(ms, () => {
      const silent = clock.now() - heardAt;
      if (silent >= idleMs) stop({ class: 'timeout', message: `the model said nothing for ${idleMs} ms` });
      else release = watch(idleMs - silent);
    });
  try {
    for (;;) {
      if (stopped !== undefined) return stopped;
      const given = stream.next();
      let part: ModelPart | undefined;
      if (isPromise(given)) {
        heardAt = clock.now();
        release ??= watch(idleMs);
        part = await either(given, (resolve) => (wake = resolve));
      } else part = given;
      if (part === undefined) return stopped;
      take(part);
    }
  } catch (error) {
    return { class: 'unknown', message: error instanceof Error ? error.message : String(error) };
  } finally {
    release?.();
    off();
    stream.close();
  }
}

/** The next part, or undefined as soon as `wake` is called. What the stream does later is ignored. */
function either(
  next: Promise<ModelPart | undefined>,
  onWake: (resolve: () => void) => void,
): MaybePromise<ModelPart | undefined> {
  return new Promise((resolve, reject) => {
    onWake(() => resolve(undefined));
    next.then(resolve, reject);
  });
}

function assemble(
  spoken: readonly (Open | Block)[],
  { turnId, iteration }: ListenOptions,
): Pick<Heard, 'content' | 'thoughts'> {
  const thoughts: FactPayload<'thinking.step'>[] = [];
  let actions = 0;
  const content = spoken.map((one): Block => {
    if ('type' in one) return wellFormed(one);
    // Everything a provider hands us may hold half a character: put right before it is stored or sent on.
    const text = one.text.toWellFormed();
    const opaque = one.opaque === undefined ? undefined : wellFormed(one.opaque);
    switch (one.kind) {
      case 'text':
        return opaque === undefined ? { type: 'text', text } : { type: 'text', text, opaque };
      case 'thinking':
        thoughts.push(opaque === undefined ? { text } : { text, opaque });
        return { type: 'thinking', step: thoughts.length - 1 };
      case 'action': {
        const id = actionId(turnId, iteration, ++actions);
        // Begun and never finished: the text is kept as it came, and strict parsing will refuse it.
        const action = {
          type: 'action' as const,
          id,
          name: one.name,
          input: one.whole || text.trim() !== '' ? text : '{',
        };
        return opaque === undefined ? action : { ...action, opaque };
      }
    }
  });
  return { content, thoughts };
}

function wellFormed<T extends object>(value: T): T {
  return isWellFormed(value) ? value : (toJson(value) as unknown as T); // the same shape, with text put right
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  for (const key in value) if (!isWellFormed((value as JsonObject)[key])) return false;
  return true;
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

/** A stop that contradicts what was said is put right: whole actions are actions, whatever the provider calls it. */
function stopOf(finish: Extract<ModelPart, { type: 'finish' }> | undefined, content: readonly Block[]): StopKind {
  const stop = finish?.stop ?? 'unknown';
  return stop === 'finished' && content.some((one) => one.type === 'action') ? 'actions' : stop;
}
