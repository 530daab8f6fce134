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

/** Characters that every provider takes in a name. */
const UNSAFE = /[^A-Za-z0-9_-]/g;

/**
 * The names under which a model sees the tools of servers, in the order given: always `alias_name`, so that a name does
 * not depend on which other servers are up.
 *
 * A server may call a tool anything: what no provider takes becomes `_`, and what would be too long, was changed, or is
 * the name of something else (`taken` or another of these) ends in a hash of alias and name. At most 64 characters, no two
 * alike.
 */
export function remoteNames(tools: readonly OwnName[], taken: ReadonlySet<string>): readonly string[] {
  const plain = tools.map((tool) => {
    const whole = joined(tool);
    return whole.search(UNSAFE) >= 0 || whole.length > LONGEST ? undefined : whole;
  });
  const counts = count(plain.filter((name) => name !== undefined));
  const names = tools.map((tool, index) => {
    const name = plain[index];
    return name !== undefined && counts.get(name) === 1 && !taken.has(name) ? name : hashed(tool, 0);
  });
  // Somebody may have looked for a name that ends in another one's hash.
  for (let round = 1; round < ROUNDS; round++) {
    const now = count(names);
    const isFree = (name: string) => now.get(name) === 1 && !taken.has(name);
    if (names.every(isFree)) break;
    for (const [index, tool] of tools.entries()) if (!isFree(names[index] ?? '')) names[index] = hashed(tool, round);
  }
  return names;
}

const ROUNDS = 5;

function hashed({ alias, own }: OwnName, round: number): string {
  const hash = shortDigest(`${alias}/${own}${round === 0 ? '' : `/${round}`}`).slice(0, HASH_LENGTH + round);
  return `${joined({ alias, own })
    .replace(UNSAFE, '_')
    .slice(0, LONGEST - hash.length - 1)}_${hash}`;
}

function joined({ alias, own }: OwnName): string {
  return `${alias}_${own}`;
}

function count(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
