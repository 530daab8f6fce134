import type { Snapshot } from '../api/types.ts';

/** Labels of a run that began as another version of a message: of which run, and of the entry at which place. */
export const VERSION_OF = 'version_of';
export const VERSION_AT = 'version_at';

export type Labelled = Pick<Snapshot, 'id' | 'metadata'>;

/** What a run is labelled with that says something else in place of a message of this one. */
export function versionLabels({ id, metadata }: Labelled, position: number): Readonly<Record<string, string>> {
  const isSame = metadata[VERSION_AT] === String(position) && metadata[VERSION_OF] !== undefined;
  return isSame
    ? { [VERSION_OF]: metadata[VERSION_OF] ?? id, [VERSION_AT]: String(position) }
    : { [VERSION_OF]: id, [VERSION_AT]: String(position) };
}
