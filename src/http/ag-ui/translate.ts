import { EventType, PROTOCOL_VERSION, type AGUIEvent, type TokenUsage } from '@ag-ui/core';
import { observationText } from '../../assembly/observation.ts';
import type { ActionData, CallData } from '../../domain/entry.ts';
import { inputTokens, outputTokens } from '../../domain/usage-sum.ts';
import type { Frame } from '../../platform/runs/frame.ts';
import type { WireEntry } from '../../platform/runs/page.ts';
import type { Snapshot } from '../../platform/runs/snapshot.ts';
import type { Shown } from './input.ts';
import { interruptOf } from './interrupts.ts';

export interface TranslationOptions {
  /** The page's names for the conversation and for this exchange. */
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** What the page shows already. */
  readonly shown: Shown;
  /** What happened before this exchange, whether or not the page shows it. */
  readonly known: readonly WireEntry[];
}

/** Makes the protocol's events of what happens in a run. */
export interface Translation {
  start(): AGUIEvent[];
  frame(frame: Frame): AGUIEvent[];
  entry(entry: WireEntry): AGUIEvent[];
  /** The run rests: it has ended, or waits for a person. */
  finish(run: Snapshot): AGUIEvent[];
  fail(code: string, message: string): AGUIEvent[];
}

interface Draft {
  readonly kind: 'text' | 'thinking' | 'action';
  readonly messageId: string;
  readonly attempt: number;
  text: string;
}

export function createTranslation({ threadId, runId, parentRunId, shown, known }: TranslationOptions): Translation {
  const drafts = new Map<string, Draft>();
  /** Entries of which everything was told. */
  const told = new Set<string>();
  /** Actions whose call was told, but not what came of it. */
  const called = new Set<string>();
  const steps = new Set<string>();
  const own = [...shown.texts];
  const usage: TokenUsage[] = [];
  for (const id of shown.messages) told.add(id);
  for (const id of shown.calls) {
    called.add(id);
    told.delete(id); // some pages name the message after the call that is in it
  }
  for (const id of shown.results) told.add(id);
  for (const entry of known) {
    if (entry.role === 'user') isOwn(entry.text);
    if (entry.role === 'action' && actionIn(entry).observation === undefined) called.add(entry.id);
    else told.add(entry.id);
  }

  /** Said by the page itself, which shows it under an id of its own. */
  function isOwn(text: string): boolean {
    const index = own.indexOf(text);
    if (index >= 0) own.splice(index, 1);
    return index >= 0;
  }

  /** The attempt before came to nothing. What the page has of it cannot be taken back, so it is told that it is void. */
  function renew(id: string, attempt: number): AGUIEvent[] {
    const before = drafts.get(id);
    if (before === undefined || before.attempt >= attempt) return [];
    return [...close(id), custom('treadle.void', { messageId: before.messageId })];
  }

  function open(id: string, draft: Draft, name: string): AGUIEvent[] {
    drafts.set(id, draft);
    const { messageId } = draft;
    switch (draft.kind) {
      case 'text':
        return [{ type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' }];
      case 'thinking':
        return [
          { type: EventType.REASONING_START, messageId },
          { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
        ];
      case 'action':
        called.add(id);
        return [{ type: EventType.TOOL_CALL_START, toolCallId: messageId, toolCallName: name }];
    }
  }

  function append(draft: Draft, delta: string): AGUIEvent[] {
    if (delta === '') return [];
    draft.text += delta;
    const { messageId } = draft;
    switch (draft.kind) {
      case 'text':
        return [{ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta }];
      case 'thinking':
        return [{ type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta }];
      case 'action':
        return [{ type: EventType.TOOL_CALL_ARGS, toolCallId: messageId, delta }];
    }
  }

  function close(id: string): AGUIEvent[] {
    const draft = drafts.get(id);
    if (draft === undefined) return [];
    drafts.delete(id);
    const { messageId } = draft;
    switch (draft.kind) {
      case 'text':
        return [{ type: EventType.TEXT_MESSAGE_END, messageId }];
      case 'thinking':
        return [
          { type: EventType.REASONING_MESSAGE_END, messageId },
          { type: EventType.REASONING_END, messageId },
        ];
      case 'action':
        return [{ type: EventType.TOOL_CALL_END, toolCallId: messageId }];
    }
  }

  function delta(frame: Extract<Frame, { type: 'delta' }>): AGUIEvent[] {
    const { id, kind, attempt, name = '' } = frame;
    if (kind === 'progress') return [custom('treadle.progress', { toolCallId: id, text: frame.delta })];
    if (told.has(id)) return [];
    const events = renew(id, attempt);
    let draft = drafts.get(id);
    if (draft === undefined) {
      // A page may not be told twice of a message that it has closed.
      const messageId = attempt > 1 ? `${id}-${attempt}` : id;
      draft = { kind, messageId, attempt, text: '' };
      events.push(...open(id, draft, name));
    }
    return [...events, ...append(draft, frame.delta)];
  }

  /** The whole of what was drafted, whether or not any of it was told before. */
  function complete(id: string, kind: Draft['kind'], text: string, name = ''): AGUIEvent[] {
    const draft = drafts.get(id);
    if (draft !== undefined && text.startsWith(draft.text))
      return [...append(draft, text.slice(draft.text.length)), ...close(id)];
    const isVoid = draft !== undefined && kind !== 'action';
    if (draft !== undefined && !isVoid) return close(id);
    const events = isVoid ? [...close(id), custom('treadle.void', { messageId: draft.messageId })] : [];
    const whole: Draft = { kind, messageId: isVoid ? `${id}-final` : id, attempt: 0, text: '' };
    return [...events, ...open(id, whole, name), ...append(whole, text), ...close(id)];
  }

  function action(entry: WireEntry): AGUIEvent[] {
    const { id } = entry;
    const data = actionIn(entry);
    const events =
      called.has(id) && !drafts.has(id) ? [] : complete(id, 'action', JSON.stringify(data.arguments), data.name);
    if (data.revisedBy !== undefined && !told.has(`${id} revised`)) {
      told.add(`${id} revised`);
      events.push(custom('treadle.revised', { toolCallId: id, arguments: data.arguments, by: data.revisedBy }));
    }
    if (data.observation === undefined) return events;
    told.add(id);
    const content = observationText(data.observation);
    return [
      ...events,
      { type: EventType.TOOL_CALL_RESULT, messageId: `${id}-result`, toolCallId: id, role: 'tool', content },
    ];
  }

  function call(entry: WireEntry): AGUIEvent[] {
    const data = entry.data as unknown as CallData; // entries are made from exactly this
    const stepName = `model call ${entry.id}`;
    const events: AGUIEvent[] = [];
    if (!steps.has(stepName)) {
      steps.add(stepName);
      events.push({ type: EventType.STEP_STARTED, stepName });
    }
    if (data.state === 'open') return events;
    steps.delete(stepName);
    told.add(entry.id);
    usage.push(tokensOf(data));
    return [...events, { type: EventType.STEP_FINISHED, stepName }];
  }

  function entry(one: WireEntry): AGUIEvent[] {
    if (told.has(one.id)) return [];
    if (one.role === 'action') return action(one);
    if (one.role === 'call') return call(one);
    if (one.role !== 'plan') told.add(one.id);
    switch (one.role) {
      case 'user': {
        if (isOwn(one.text)) return [];
        return [
          { type: EventType.TEXT_MESSAGE_START, messageId: one.id, role: 'user' },
          { type: EventType.TEXT_MESSAGE_CONTENT, messageId: one.id, delta: one.text },
          { type: EventType.TEXT_MESSAGE_END, messageId: one.id },
        ];
      }
      case 'assistant':
        return complete(one.id, 'text', one.text);
      case 'thinking':
        return complete(one.id, 'thinking', one.text);
      case 'plan':
        return [
          {
            type: EventType.ACTIVITY_SNAPSHOT,
            messageId: one.id,
            activityType: 'treadle.plan',
            content: { text: one.text, ...(one.data as object) }, // of a plan, it is always one
          },
        ];
      case 'notice':
        return [custom('treadle.notice', { text: one.text, data: one.data })];
      case 'end':
        return [];
    }
  }

  function closeAll(): AGUIEvent[] {
    const events = [...drafts.keys()].flatMap((id) => close(id));
    for (const stepName of steps) events.push({ type: EventType.STEP_FINISHED, stepName });
    steps.clear();
    return events;
  }

  return {
    start: () => [
      {
        type: EventType.RUN_STARTED,
        threadId,
        runId,
        protocolVersion: PROTOCOL_VERSION,
        ...(parentRunId !== undefined && { parentRunId }),
      },
    ],
    frame(frame) {
      switch (frame.type) {
        case 'entry':
          return entry(frame.entry);
        case 'delta':
          return delta(frame);
        case 'status': {
          const { status, statusKind, waitingOn, version } = frame;
          return [custom('treadle.status', { status, statusKind, waitingOn, version })];
        }
        case 'activity':
        case 'gap':
          return [custom(`treadle.${frame.type}`, frame)];
        case 'end':
          return [];
      }
    },
    entry,
    finish({ id, status, terminal, answer, error, requests }) {
      const ended = { type: EventType.RUN_FINISHED, threadId, runId, usage } as const;
      if (!terminal) {
        const interrupts = requests.map((one) => interruptOf(one, id));
        return [...closeAll(), { ...ended, outcome: { type: 'interrupt', interrupts } }];
      }
      const result = { run: id, status, ...(answer !== undefined && { answer }) };
      switch (status) {
        case 'completed':
          return [...closeAll(), { ...ended, result, outcome: { type: 'success' } }];
        case 'stopped':
          return [...closeAll(), { ...ended, result, outcome: { type: 'cancelled' } }];
        default: {
          const message = error?.message ?? `The run ended: ${status}.`;
          return [...closeAll(), { type: EventType.RUN_ERROR, code: error?.code ?? status, message, usage }];
        }
      }
    },
    fail: (code, message) => [...closeAll(), { type: EventType.RUN_ERROR, code, message }],
  };
}

function custom(name: string, value: unknown): AGUIEvent {
  return { type: EventType.CUSTOM, name, value };
}

function actionIn({ data }: WireEntry): ActionData {
  return data as unknown as ActionData; // as above
}

function tokensOf({ attempts, served, usage }: CallData): TokenUsage {
  const last = attempts.at(-1);
  const written = (usage.cacheWrite ?? 0) + (usage.cacheWriteLong ?? 0);
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  return {
    ...(last !== undefined && { provider: last.provider, model: served ?? last.model }),
    ...(input > 0 && { inputTokens: input }),
    ...(output > 0 && { outputTokens: output }),
    ...(input + output > 0 && { totalTokens: input + output }),
    ...(usage.reasoning !== undefined && { reasoningTokens: usage.reasoning }),
    ...(usage.cacheRead !== undefined && { cachedInputTokens: usage.cacheRead }),
    ...(written > 0 && { cacheWriteInputTokens: written }),
  };
}
