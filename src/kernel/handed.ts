import type { ToolContext } from './running-tool.ts';

/** What is told to one tool and not to all. */
type Own = Partial<Pick<ToolContext, 'fetch' | 'secrets' | 'files' | 'progress' | 'account' | 'notes' | 'reply'>>;

const NOTHING: Own = {};

/**
 * A tool's context, field by field, with what is its own. A signal that nobody looks at is never made.
 *
 * A class: an object that is made of another one, or with a getter of its own, costs more than all the rest of an action.
 */
export class Handed implements ToolContext {
  readonly conversationId: string;
  readonly userId: string;
  readonly tenant: string;
  readonly turnId: string;
  readonly actionId: string;
  readonly idempotencyKey: string;
  readonly now: ToolContext['now'];
  readonly progress: ToolContext['progress'];
  readonly readBody: ToolContext['readBody'];
  readonly conversation: ToolContext['conversation'];
  readonly reply: ToolContext['reply'];
  readonly fetch: ToolContext['fetch'];
  readonly files: ToolContext['files'];
  readonly secrets: ToolContext['secrets'];
  readonly call: ToolContext['call'];
  readonly program: ToolContext['program'];
  readonly account: ToolContext['account'];
  readonly notes: ToolContext['notes'];
  /** No `#abort`: what somebody else makes of a context must find it, too. */
  private readonly abort: { readonly signal: AbortSignal };

  constructor(context: Omit<ToolContext, 'signal'>, abort: { readonly signal: AbortSignal }, own: Own = NOTHING) {
    this.conversationId = context.conversationId;
    this.userId = context.userId;
    this.tenant = context.tenant;
    this.turnId = context.turnId;
    this.actionId = context.actionId;
    this.idempotencyKey = context.idempotencyKey;
    this.now = context.now;
    this.progress = own.progress ?? context.progress;
    this.readBody = context.readBody;
    this.conversation = context.conversation;
    this.reply = 'reply' in own ? own.reply : context.reply;
    this.fetch = own.fetch ?? context.fetch;
    this.files = own.files ?? context.files;
    this.secrets = own.secrets ?? context.secrets;
    this.call = context.call;
    this.program = context.program;
    this.account = own.account ?? context.account;
    this.notes = own.notes ?? context.notes;
    this.abort = abort;
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }
}

/** The same context with what is this tool's own. */
export function handed(context: ToolContext, own: Own): ToolContext {
  return new Handed(context, context, own);
}
