/** Bytes of text in UTF-8. A lone surrogate counts as the three bytes of U+FFFD, which is what encoders write. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      bytes += 2; // two units, four bytes
      index++;
    } else bytes += 2;
  }
  return bytes;
}

/** The first characters of text that fit into `bytes` of UTF-8; never half a surrogate pair. */
export function head(text: string, bytes: number): string {
  let used = 0;
  let index = 0;
  while (index < text.length) {
    const size = text.codePointAt(index) ?? 0;
    const width = size < 0x80 ? 1 : size < 0x800 ? 2 : size < 0x10000 ? 3 : 4;
    if (used + width > bytes) break;
    used += width;
    index += width === 4 ? 2 : 1;
  }
  return text.slice(0, index);
}

/** The last characters of text that fit into `bytes` of UTF-8. */
export function tail(text: string, bytes: number): string {
  let used = 0;
  let index = text.length;
  while (index > 0) {
    const pair = index > 1 && isLow(text.charCodeAt(index - 1)) && isHigh(text.charCodeAt(index - 2));
    const unit = text.charCodeAt(index - 1);
    const width = pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (used + width > bytes) break;
    used += width;
    index -= pair ? 2 : 1;
  }
  return text.slice(index);
}

/** True when text has nothing a reader could see: providers refuse such blocks. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/**
 * Text as a name that stands on one line: white space is one space, and nothing is left that would steer a terminal or turn
 * the direction in which the rest of the line is read.
 */
export function asName(text: string): string {
  const line = text.replace(/\s+/g, ' ').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
  return line.trim().toWellFormed();
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
