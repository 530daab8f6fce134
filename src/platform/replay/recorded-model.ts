import type { ModelPart } from '../../domain/model.ts';
import type { ModelStream } from '../../kernel/model.ts';
import type { RecordedCall } from './recording.ts';

/** What a model said once, as the parts of a stream: put together again they are the answer in the log, to the byte. */
export function spokenAgain({ response, thoughts }: RecordedCall): ModelStream {
  const parts: ModelPart[] = response === undefined ? [lost] : partsOf(response.payload, thoughts);
  return { next: () => parts.shift(), close: () => undefined };
}

/** An attempt that a crash cut off left no answer. The one after it did. */
const lost: ModelPart = {
  type: 'failure',
  failure: { class: 'aborted', message: 'the process stopped during this call' },
};

function partsOf(
  { content, stop, raw, usage, served, providerId, opaque, failure }: NonNullable<RecordedCall['response']>['payload'],
  thoughts: RecordedCall['thoughts'],
): ModelPart[] {
  const parts: ModelPart[] = [];
  for (const [index, block] of content.entries()) {
    const part = String(index);
    switch (block.type) {
      case 'text':
        parts.push({ type: 'start', kind: 'text', part }, { type: 'delta', part, delta: block.text }, end(part, block));
        break;
      case 'thinking': {
        const thought = thoughts[block.step] ?? { text: '' };
        parts.push({ type: 'start', kind: 'thinking', part }, { type: 'delta', part, delta: thought.text });
        parts.push(end(part, thought));
        break;
      }
      case 'action': {
        const { name, input } = block;
        parts.push({ type: 'action', part, name, input, ...(block.opaque !== undefined && { opaque: block.opaque }) });
        break;
      }
      case 'file':
      case 'provider':
        parts.push({ type: 'block', block });
    }
  }
  if (served !== undefined || providerId !== undefined)
    parts.push({
      type: 'served',
      ...(served !== undefined && { model: served }),
      ...(providerId !== undefined && { id: providerId }),
    });
  const more = { ...(raw !== undefined && { raw }), ...(opaque !== undefined && { opaque }) };
  if (failure === undefined || Object.keys(usage).length > 0) parts.push({ type: 'finish', stop, usage, ...more });
  if (failure !== undefined) parts.push({ type: 'failure', failure });
  return parts;
}

type Ending = Extract<ModelPart, { type: 'end' }>;

function end(part: string, { opaque }: { readonly opaque?: Ending['opaque'] | undefined }): ModelPart {
  return opaque === undefined ? { type: 'end', part } : { type: 'end', part, opaque };
}
