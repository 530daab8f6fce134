import { TreadleError } from '../../base/errors.ts';
import { toJson } from '../../base/json.ts';
import { eventDraft } from '../hosting/event-sources.ts';
import { oneOf } from '../bundle/problems.ts';
import type { Caller } from './caller.ts';
import { bundleOf, post, runOf, snapshotNow, type RunsPorts } from './ports.ts';
import type { ToldEvents } from './runs.ts';
import type { Snapshot } from './snapshot.ts';

/** Events that are handed in: each is on record once, whoever tells it again. */
export async function tellEvents(
  ports: RunsPorts,
  caller: Caller,
  id: string,
  { source, events }: ToldEvents,
): Promise<Snapshot> {
  const row = await runOf(ports, caller, 'run', id);
  const { eventSources = [] } = bundleOf(ports, row).loaded.agent(row.agent);
  const open = eventSources.filter(({ push }) => push).map(({ namespace }) => namespace);
  if (!open.includes(source)) {
    const wanted = open.length === 0 ? 'an agent with event_sources' : oneOf(open);
    throw new TreadleError('event_source_unknown', { place: id, found: JSON.stringify(source), wanted });
  }
  // What a user switched off is not heard, also when it is told.
  const { conversation } = await ports.folds.read(row);
  const isOff = conversation.agent?.tools.some(({ group }) => group === source) === false;
  if (isOff)
    throw new TreadleError('event_source_unknown', { place: id, found: `${source}, which is off in this run` });
  for (const event of events)
    await post(ports, row, { ...eventDraft(source, toJson(event)), turnId: conversation.turn?.id });
  return snapshotNow(ports, id);
}
