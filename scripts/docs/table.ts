/** A Markdown table. Bars within cells are escaped and line breaks become spaces. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')).join(' | ')} |`.replaceAll(
      '|  |',
      '| |',
    );
  return `${[line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** A sentence of a clause: `a person speaks` becomes `A person speaks.` */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${/[.?!]$/.test(clause) ? '' : '.'}`;
}

/** What stands at the head of every generated page. */
export function generated(source: string): string {
  return `<!-- Made by \`npm run docs\` of ${source}. Change that, not this. -->\n`;
}
