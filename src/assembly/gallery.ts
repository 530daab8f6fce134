import type { GrantedSkill } from '../domain/grant.ts';

export interface Gallery {
  /** The section of the prompt that lists skills; empty when there are none. */
  readonly text: string;
  /** There was no room for all: they have to be searched. */
  readonly isCut: boolean;
}

const INTRODUCTION = `# Skills

Skills are instructions for particular kinds of work. Before you begin work that one of these is for, load it with
skills_load and follow it.`;

const SHORTEST = 80;

/**
 * The list of skills as a model is shown it, within so many characters: whole while there is room, then with shorter
 * descriptions, then without the last ones, which it says.
 */
export function gallery(skills: readonly Pick<GrantedSkill, 'id' | 'description'>[], room: number): Gallery {
  if (skills.length === 0) return { text: '', isCut: false };
  const whole = skills.map(({ id, description }) => `- ${id}: ${description}`);
  const share = Math.floor(room / skills.length);
  const lines = length(whole) <= room ? whole : whole.map((line) => shorten(line, Math.max(SHORTEST, share)));
  const kept: string[] = [];
  for (const line of lines) {
    if (kept.length > 0 && length(kept) + line.length + 1 > room) break;
    kept.push(line);
  }
  const left = skills.length - kept.length;
  const more = left === 0 ? [] : [`- and ${left} more: find them with skills_search`];
  return { text: [INTRODUCTION, '', ...kept, ...more].join('\n'), isCut: left > 0 };
}

function length(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

function shorten(line: string, most: number): string {
  return line.length <= most
    ? line
    : `${line
        .slice(0, most - 1)
        .toWellFormed()
        .trimEnd()}…`;
}
