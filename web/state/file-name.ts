import type { RunSummary } from '../api/types.ts';

/** A name for the file: the title, as file systems take it. */
export function fileName({ title, id }: Pick<RunSummary, 'id' | 'title'>, extension: string): string {
  const name = title
    .normalize('NFKD')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${name === '' ? id : name.toLowerCase()}.${extension}`;
}
