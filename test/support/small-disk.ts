import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** Why a small disk cannot be had, or false. */
export const mountRefused: string | false = (() => {
  if (process.getuid?.() !== 0) return 'needs root, to mount a small disk';
  const probe = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs -o size=1m tmpfs "$d" && umount "$d"']);
  return probe.status === 0 ? false : 'mounting is not allowed here';
})();

/** A disk of so many bytes, such as `1m`; gone with the test. */
export function smallDisk(t: { after(undo: () => void): void }, size: string): string {
  const disk = mkdtempSync(path.join(tmpdir(), 'treadle-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]);
  assert.equal(mounted.status, 0, mounted.stderr.toString());
  t.after(() => {
    spawnSync('umount', ['-l', disk]);
    rmdirSync(disk);
  });
  return disk;
}

/** Takes all the room that is left on a disk. The returned function gives it back. */
export function fillUp(disk: string): () => void {
  const ballast = path.join(disk, 'ballast');
  for (let size = 1 << 20; size >= 1 << 12; size >>= 1) {
    try {
      for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // a smaller piece may still fit
    }
  }
  return () => rmSync(ballast);
}
