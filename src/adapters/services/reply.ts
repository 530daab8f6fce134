import { tryParseJson } from '../../base/json.ts';
import { head } from '../../base/text.ts';
import type { ToolReturn } from '../../kernel/running-tool.ts';
import { toolFailure, toolResult } from '../../kernel/tool.ts';
import type { GuardedReply } from '../net/guarded-requests.ts';

const LONGEST_REASON = 2_000;
/** Files that a model may look at, and how large. */
const SHOWN = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/;
const MOST_SHOWN_BYTES = 5 * 1024 * 1024;
const TEXT = /^text\/|[/+](json|xml|yaml|x-yaml|javascript|csv)$|^application\/(problem\+json|graphql)$/;

/** What a service answered, as a tool returns it. `clean` takes secrets out of what it says. */
export function returned(service: string, reply: GuardedReply, clean: (text: string) => string): ToolReturn {
  const { status, bytes } = reply;
  const type = (reply.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isText = type === '' ? !bytes.includes(0) : TEXT.test(type);
  const text = isText ? clean(new TextDecoder().decode(bytes)) : '';
  if (status < 200 || status >= 300) {
    const said = head(text, LONGEST_REASON).toWellFormed().trim();
    const message = `The service ${service} answered ${status}${reply.statusText === '' ? '' : ` ${reply.statusText}`}${said === '' ? '.' : `: ${said}`}`;
    return toolFailure(`http_${status}`, message, { uncertain: status >= 500 });
  }
  if (bytes.length === 0) return toolResult({ value: null });
  if (/[/+]json$/.test(type) || type === '') {
    const parsed = tryParseJson(text);
    if (parsed.ok) return toolResult({ value: parsed.value });
  }
  if (isText) return toolResult({ content: [{ type: 'text', text: text.toWellFormed() }] });
  if (SHOWN.test(type) && bytes.length <= MOST_SHOWN_BYTES) {
    return toolResult({ content: [{ type: 'file', mediaType: type, data: Buffer.from(bytes).toString('base64') }] });
  }
  return toolResult({ content: [{ type: 'text', text: `[${bytes.length} bytes of ${type}, which cannot be shown]` }] });
}
