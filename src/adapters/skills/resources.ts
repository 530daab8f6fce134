import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

export type Resource =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: true; readonly mediaType: string; readonly data: string }
  | { readonly ok: false; readonly why: string };

const MOST_BYTES = 4_000_000;
const MOST_LISTED = 100;
const DEEPEST = 4;

const MEDIA: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
};

/** A file of a skill by its path in the folder of the skill, which it has to be in, also after symbolic links. */
export function readResource(folder: string, named: string): Resource {
  const outside: Resource = { ok: false, why: 'A path leads to a file of the skill, such as references/FORMS.md.' };
  if (named.includes('\0') || path.isAbsolute(named) || /^[A-Za-z]:/.test(named) || named.includes('\\'))
    return outside;
  const target = path.resolve(folder, named);
  if (!isWithin(folder, target)) return outside;
  try {
    const real = realpathSync(target);
    if (!isWithin(realpathSync(folder), real)) return outside;
    const status = statSync(real);
    if (!status.isFile()) return { ok: false, why: `${named} is not a file.` };
    if (status.size > MOST_BYTES)
      return { ok: false, why: `${named} has ${status.size} bytes; at most ${MOST_BYTES} are read.` };
    const bytes = readFileSync(real);
    const mediaType = MEDIA[path.extname(real).toLowerCase()];
    if (mediaType !== undefined) return { ok: true, mediaType, data: bytes.toString('base64') };
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const isText = error instanceof TypeError;
    return { ok: false, why: isText ? `${named} is not a text.` : `There is no file ${named} in the skill.` };
  }
}

/** The files of a skill besides its SKILL.md, as paths from its folder. */
export function listResources(folder: string): { readonly files: readonly string[]; readonly isCut: boolean } {
  const files: string[] = [];
  const visit = (below: string, depth: number): void => {
    const entries = readdirSync(path.join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (files.length > MOST_LISTED || entry.name.startsWith('.')) continue;
      const inner = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && depth < DEEPEST) visit(inner, depth + 1);
      else if (entry.isFile() && inner !== 'SKILL.md') files.push(inner);
    }
  };
  try {
    visit('', 0);
  } catch {
    // What cannot be listed cannot be read either.
  }
  return { files: files.slice(0, MOST_LISTED), isCut: files.length > MOST_LISTED };
}

function isWithin(folder: string, target: string): boolean {
  const relative = path.relative(folder, target);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
