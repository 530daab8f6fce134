/** A fenced block of a Markdown text: its language, the file name after it, and what is in it. */
export interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

/** Every fenced block, in order. */
export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^```(\w*) *(\S*)\n(.*?)^```$/gms)].map(([, language = '', file = '', text = '']) => ({
    language,
    file: file === '' ? undefined : file,
    text,
  }));
}

/** Where the links of a text point to, pictures included; those in fenced blocks are not links. */
export function linksOf(markdown: string): readonly string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The anchors of a text's headings, as GitHub makes them. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  const seen = new Map<string, number>();
  const anchors = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const plain = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const times = seen.get(plain) ?? 0;
    seen.set(plain, times + 1);
    return times === 0 ? plain : `${plain}-${times}`;
  });
  return new Set(anchors);
}

/** The first cells of a table's rows, without the head, where `heading` is the section that the table stands in. */
export function firstCells(markdown: string, heading: string): readonly string[] {
  const [, section = ''] = markdown.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [own = ''] = section.split(/^#+ /m);
  return [...own.matchAll(/^\| (.*?) \|/gm)].map(([, cell = '']) => cell).slice(2);
}
