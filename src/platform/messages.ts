import { TreadleError } from '../base/errors.ts';
import { isBlank, utf8Length } from '../base/text.ts';
import type { Part } from '../domain/content.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { FactPayload } from '../domain/event.ts';
import type { Bus } from '../kernel/bus.ts';

export interface Message {
  readonly text: string;
  readonly attachments?: readonly Part[];
  /** `message` when absent. */
  readonly mode?: 'message' | 'followup' | 'steer';
  readonly userId?: string;
  /** Said once, however often it is sent: the same key gives the same fact. */
  readonly key?: string;
}

/** Bytes of one message. A larger text belongs into an attachment or a tool. */
const MESSAGE_BYTES_MAX = 1_000_000;

/** A message as it will be on record, when every gate has let it pass. Throws `input_invalid` and `input_refused`. */
export async function checkedMessage(
  { text, attachments, mode = 'message', userId }: Message,
  bus: Bus,
  conversation: () => Promise<Conversation>,
): Promise<FactPayload<'io.input'>> {
  if (typeof text !== 'string')
    throw new TreadleError('input_invalid', {
      found: `a text that is ${typeof text}`,
      wanted: 'a message: { text: … }',
    });
  const payload: FactPayload<'io.input'> = { text: text.toWellFormed(), mode };
  if (attachments !== undefined) payload.attachments = [...attachments];
  if (userId !== undefined) payload.userId = userId;
  checkSize(payload);
  if (!bus.isGated('before:io.input')) return payload;
  const judged = await bus.ask('before:io.input', payload, { conversation: await conversation(), agent: undefined });
  if (judged.outcome === 'allow') return judged.payload;
  const gate = judged.denial?.gate ?? judged.holds[0]?.gate ?? 'a gate';
  const why = judged.denial?.reason ?? judged.holds[0]?.question ?? 'it says no more';
  throw new TreadleError('input_refused', { found: `a no of ${gate}: ${why}`, data: { gate } });
}

function checkSize({ text, attachments }: FactPayload<'io.input'>): void {
  if (isBlank(text) && (attachments?.length ?? 0) === 0)
    throw new TreadleError('input_invalid', { found: 'an empty message', wanted: 'some text or an attachment' });
  const size = utf8Length(text);
  if (size > MESSAGE_BYTES_MAX)
    throw new TreadleError('input_invalid', {
      found: `a message of ${size} bytes`,
      wanted: `at most ${MESSAGE_BYTES_MAX}`,
    });
}
