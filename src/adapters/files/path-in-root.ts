import path from 'node:path';
import { FileRefusal } from '../../kernel/files.ts';

/** Bytes of one path; more is longer than any system takes. */
const LONGEST = 4_096;

/** Where the system shows its devices and processes as files. */
const OF_THE_SYSTEM = ['/proc', '/sys', '/dev', '/run'];

/**
 * The absolute path of what a tool named, by its letters alone: nobody has looked at the disk yet.
 *
 * Absolute paths are taken where they are in the root, as a shell prints them, and never made into something else.
 */
export function namedPath(root: string, named: string): string {
  if (named.includes('\0')) throw new FileRefusal('bad_path', 'A path cannot have a NUL in it.');
  if (named.length > LONGEST) throw new FileRefusal('bad_path', `A path has at most ${LONGEST} characters.`);
  if (named === '~' || named.startsWith('~/')) {
    throw new FileRefusal('outside', `${shown(named)} is not looked up: write a path from ${root}.`);
  }
  const target = path.resolve(root, named);
  if (!isWithin(root, target)) throw outside(named);
  return target;
}

/** The path from the root, with `/`; empty for the root itself. */
export function fromRoot(root: string, target: string): string {
  return path.relative(root, target).split(path.sep).join('/');
}

export function isWithin(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** Whether a root reaches into the system's own files by being above them. */
export function isOfTheSystem(root: string, target: string): boolean {
  return OF_THE_SYSTEM.some((folder) => isWithin(folder, target) && !isWithin(folder, root));
}

export function outside(named: string): FileRefusal {
  return new FileRefusal('outside', `${shown(named)} is outside of the folder that this tool works in.`);
}

/** A path as a message shows it: what an eye would not see is written out. */
export function shown(named: string): string {
  return JSON.stringify(named).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) =>
    [...one.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
}
