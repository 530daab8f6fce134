import type { Log } from '../../src/kernel/log.ts';

/** What a process that dies looks like from inside a test. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** When to die: at the `at`-th append or post (from 1), before or after it is committed. */
export interface CrashPoint {
  readonly at: number;
  readonly when: 'before' | 'after';
  /** Posts count too: what a run states in its parent and its children. */
  readonly posts?: boolean;
}

/** A log whose process dies at one write. Afterwards everything it is asked fails, as nothing of the process is left. */
export function dyingLog(log: Log, { at, when, posts = false }: CrashPoint): Log & { readonly died: boolean } {
  let writes = 0;
  let died = false;
  const alive = <T>(work: () => T): T => {
    if (died) throw new Crash();
    return work();
  };
  const mortal = <T>(write: () => T): T =>
    alive(() => {
      const last = ++writes === at;
      if (last && when === 'before') {
        died = true;
        throw new Crash();
      }
      const result = write();
      if (last) {
        died = true;
        throw new Crash();
      }
      return result;
    });
  return {
    create: (meta) => alive(() => log.create(meta)),
    find: (id) => alive(() => log.find(id)),
    list: (query) => alive(() => log.list(query)),
    read: (id, after, limit) => alive(() => log.read(id, after, limit)),
    append: (lease, expected, drafts, row) => mortal(() => log.append(lease, expected, drafts, row)),
    post: (id, draft) => (posts ? mortal : alive)(() => log.post(id, draft)),
    take: (id, owner, ttlMs) => alive(() => log.take(id, owner, ttlMs)),
    renew: (lease, ttlMs) => alive(() => log.renew(lease, ttlMs)),
    release: (lease, options) => (died ? undefined : log.release(lease, options)),
    ready: (limit, options) => alive(() => log.ready(limit, options)),
    due: (options) => alive(() => log.due(options)),
    onWork: (listener) => log.onWork(() => (died ? undefined : listener())),
    archive: (id, archived) => alive(() => log.archive(id, archived)),
    rename: (id, title) => alive(() => log.rename(id, title)),
    remove: (id) => alive(() => log.remove(id)),
    fork: (meta, from, at) => alive(() => log.fork(meta, from, at)),
    counts: () => alive(() => log.counts()),
    oldestReady: () => alive(() => log.oldestReady()),
    watch: (id, listener) => log.watch(id, () => (died ? undefined : listener())),
    writeBody: (id, body) => alive(() => log.writeBody(id, body)),
    readBody: (id, ref) => alive(() => log.readBody(id, ref)),
    carry: (id) => alive(() => log.carry(id)),
    adopt: (carried) => alive(() => log.adopt(carried)),
    close: () => log.close(),
    get died() {
      return died;
    },
  };
}
