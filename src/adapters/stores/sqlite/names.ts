import type { Statements } from './statements.ts';

/** Words that facts repeat, such as their types, each with the number that stands for it in this file. */
export interface Names {
  /** Inside a transaction: adds the name when it is new. */
  keyOf(name: string): number;
  nameOf(key: number): string | undefined;
  /** Forgets what was learned: a transaction that added names was undone. */
  forget(): void;
}

export function createNames(sql: Statements): Names {
  const keys = new Map<string, number>();
  const names = new Map<number, string>();

  function learn(key: number, name: string): void {
    keys.set(name, key);
    names.set(key, name);
  }

  return {
    keyOf(name) {
      const known = keys.get(name);
      if (known !== undefined) return known;
      const key = Number(sql('findName').get(name)?.['key'] ?? sql('addName').run(name).lastInsertRowid);
      learn(key, name);
      return key;
    },
    nameOf(key) {
      const known = names.get(key);
      if (known !== undefined) return known;
      const name = sql('name').get(key)?.['name'];
      if (typeof name !== 'string') return undefined;
      learn(key, name);
      return name;
    },
    forget() {
      keys.clear();
      names.clear();
    },
  };
}
