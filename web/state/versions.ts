import { useQuery } from '@tanstack/react-query';
import { api } from '../api/calls.ts';
import type { RunSummary, Snapshot } from '../api/types.ts';
import { VERSION_AT, VERSION_OF, type Labelled } from './version-labels.ts';

/** The runs that differ from one message on, the oldest first. */
export interface Versions {
  /** Place of the message in the conversation. */
  readonly position: number;
  readonly runs: readonly string[];
  /** Place in `runs` of the one that is open. */
  readonly current: number;
}

/** A copy of a copy of a copy: further up nobody looks. */
const HIGHEST = 6;

/** Every message of a run that there are other versions of, by its place. */
export function useVersions(run: Snapshot | undefined): ReadonlyMap<number, Versions> {
  const found = useQuery({
    queryKey: ['versions', run?.id],
    queryFn: () => (run === undefined ? NONE : versionsOf(run)),
    enabled: run !== undefined,
  });
  return found.data ?? NONE;
}

const NONE: ReadonlyMap<number, Versions> = new Map();

async function versionsOf(run: Labelled): Promise<ReadonlyMap<number, Versions>> {
  const versions = new Map<number, Versions>();
  const add = (position: number, runs: readonly string[], own: string): void => {
    const current = runs.indexOf(own);
    if (runs.length > 1 && current !== -1 && !versions.has(position))
      versions.set(position, { position, runs, current });
  };
  const below = await labelled(run.id);
  for (const at of new Set(below.map(placeOf))) add(at, [run.id, ...idsAt(below, at)], run.id);
  let own = run;
  for (let height = 0; height < HIGHEST; height++) {
    const { [VERSION_OF]: of, [VERSION_AT]: at } = own.metadata;
    if (of === undefined || at === undefined) break;
    const [beside, origin] = await Promise.all([labelled(of), api.run(of).catch(() => undefined)]);
    add(Number(at), [...(origin === undefined ? [] : [of]), ...idsAt(beside, Number(at))], own.id);
    if (origin === undefined) break;
    own = origin;
  }
  return versions;
}

async function labelled(id: string): Promise<readonly RunSummary[]> {
  const { runs } = await api.runs({ label: `${VERSION_OF}=${id}`, archived: 'any', limit: 100 });
  return runs.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

function placeOf({ metadata }: RunSummary): number {
  return Number(metadata[VERSION_AT]);
}

function idsAt(runs: readonly RunSummary[], at: number): readonly string[] {
  return runs.filter((one) => placeOf(one) === at).map((one) => one.id);
}
