import { shortDigest } from '../base/digest.ts';

/** What every provider takes for a name. */
const LONGEST = 64;
const HASH_LENGTH = 8;

/** A tool by the alias of its group and its name within it. */
export interface OwnName {
  readonly alias: string;
  readonly own: string;
}

/**
 * The names under which a model sees tools, in the order given: a tool's own where only one has it, else
 * `alias_name`.
 *
 * At most 64 characters, no two alike, and a function of the set of tools alone: their order changes nothing. Own names
 * and aliases are made of `A-Za-z0-9_-`.
 */
export function modelNames(tools: readonly OwnName[]): readonly string[] {
  const owners = count(tools.map(({ own }) => own));
  const isUnique = (own: string) => owners.get(own) === 1;
  const long = count(tools.filter(({ own }) => !isUnique(own)).map(joined));
  return tools.map((tool) => {
    if (isUnique(tool.own)) return tool.own;
    const name = joined(tool);
    if (name.length <= LONGEST && long.get(name) === 1 && !isUnique(name)) return name;
    const hash = shortDigest(`${tool.alias}/${tool.own}`).slice(0, HASH_LENGTH);
    return `${name.slice(0, LONGEST - HASH_LENGTH - 1)}_${hash}`;
  });
}

function joined({ alias, own }: OwnName): string {
  return `${alias}_${own}`;
}

function count(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
