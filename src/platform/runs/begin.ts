import { digest, sha256 } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, toJson } from '../../base/json.ts';
import { emptyConversation } from '../../domain/conversation.ts';
import type { FactPayload } from '../../domain/event.ts';
import { titleOf } from '../../domain/run.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import { checkedMessage } from '../messages.ts';
import { permit, type Caller } from './caller.ts';
import { bundleOf, post, runOf, snapshotNow, type RunsPorts } from './ports.ts';
import { reply } from './reply.ts';
import type { CreateRun, Runs, SayToRun } from './runs.ts';
import { OWN_LABEL } from './snapshot-of.ts';

/** Digest of what a run was asked to be: another request under the same key is told from a repetition by it. */
const REQUEST = `${OWN_LABEL}request`;
/** Key of the fact that is the run's first message: it is said once, whatever crashes in between. */
const PROMPT_KEY = 'treadle.prompt';

/** The same key, user and tenant: the same run, so that a repetition finds what a crash left. */
export function runIdOf({ tenant, userId }: Caller, operation: string, key: string): string {
  return `run_${sha256(canonicalJson([tenant, userId, operation, key])).slice(0, 32)}`;
}

/** Adds the conversation, or finds that it is there already. Throws `idempotency_conflict` when that is another one. */
export async function addOnce(
  ports: RunsPorts,
  meta: ConversationMeta,
  request: string,
  add: (meta: ConversationMeta) => Promise<boolean>,
): Promise<boolean> {
  checkLabels(meta.metadata);
  const fresh = await add({ ...meta, metadata: { ...meta.metadata, [REQUEST]: request } });
  if (fresh) return true;
  const known = await ports.log.find(meta.id);
  if (known?.metadata?.[REQUEST] !== request) throw conflict();
  return false;
}

export async function create(ports: RunsPorts, caller: Caller, request: CreateRun): ReturnType<Runs['create']> {
  permit(caller, 'run');
  const { bundle, agent } = ports.served.agentNamed(request.agent);
  const { prompt, attachments, metadata, limits, key } = request;
  const id = key === undefined ? ports.ids.next('run') : runIdOf(caller, 'create', key);
  const asked = digest(toJson({ agent, prompt, attachments, metadata, limits }));
  if (key !== undefined) {
    const known = await ports.log.find(id);
    if (known !== undefined && known.metadata?.[REQUEST] !== asked) throw conflict();
    if (known !== undefined && known.head > 0) return { run: await snapshotNow(ports, id), fresh: false };
  }
  const payload = await checkedMessage(
    { text: prompt, mode: 'message', userId: caller.userId, ...(attachments !== undefined && { attachments }) },
    bundle.bus,
    () => Promise.resolve(emptyConversation(id, agent)),
  );
  const meta: ConversationMeta = {
    id,
    agent,
    bundle: bundle.loaded.id,
    userId: caller.userId,
    tenant: caller.tenant,
    agentPath: agent,
    createdAt: ports.clock.now(),
    ...(metadata !== undefined && { metadata }),
    ...(limits !== undefined && { limits }),
  };
  const fresh = await addOnce(ports, meta, asked, async (one) => ports.log.create(one));
  if (fresh) await ports.log.rename(id, titleOf(prompt)); // lists show it before its first turn has begun
  const row = await runOf(ports, caller, 'run', id);
  await post(ports, row, { type: 'io.input', payload, key: PROMPT_KEY });
  return { run: await snapshotNow(ports, id), fresh };
}

export async function say(
  ports: RunsPorts,
  caller: Caller,
  id: string,
  { content, mode, attachments, key }: SayToRun,
): ReturnType<Runs['say']> {
  const row = await runOf(ports, caller, 'run', id);
  const { bus } = bundleOf(ports, row);
  const once = key === undefined ? undefined : `say:${caller.userId}:${key}`;
  const replied = await reply(ports, caller, row, { content, mode, attachments }, once);
  if (replied !== undefined) return { run: await snapshotNow(ports, id), fresh: replied };
  const payload = await checkedMessage(
    {
      text: content,
      mode: mode ?? 'followup',
      userId: caller.userId,
      ...(attachments !== undefined && { attachments }),
    },
    bus,
    async () => (await ports.folds.read(row)).conversation,
  );
  const { fact, fresh } = await post(ports, row, {
    type: 'io.input',
    payload,
    key: once,
  });
  if (!fresh && !isSaid(fact.payload, payload)) throw conflict();
  return { run: await snapshotNow(ports, id), fresh };
}

function isSaid(known: object, payload: FactPayload<'io.input'>): boolean {
  return canonicalJson(toJson(known)) === canonicalJson(toJson(payload));
}

function conflict(): TreadleError {
  return new TreadleError('idempotency_conflict', { hint: 'a request that differs needs a key of its own' });
}

function checkLabels(metadata: ConversationMeta['metadata'] = {}): void {
  const own = Object.keys(metadata).find((name) => name.startsWith(OWN_LABEL));
  if (own === undefined) return;
  throw new TreadleError('invalid_request', {
    place: 'metadata',
    found: JSON.stringify(own),
    wanted: `a name that does not begin with ${OWN_LABEL}`,
  });
}
