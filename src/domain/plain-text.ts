import type { Part } from './content.ts';

/** The text of parts, files named in brackets. */
export function plainText(parts: readonly Part[]): string {
  return parts
    .map((one) =>
      one.type === 'text' ? one.text : `[${one.mediaType}${one.name === undefined ? '' : ` ${one.name}`}]`,
    )
    .join('');
}
