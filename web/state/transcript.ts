import { transcript } from '../api/http.ts';

/** A conversation to keep: Markdown for people, an entry a line for programs. */
export const FORMATS = [
  { format: 'md', label: 'Markdown', mediaType: 'text/markdown' },
  { format: 'jsonl', label: 'JSON lines', mediaType: 'application/x-ndjson' },
] as const;
export type Format = (typeof FORMATS)[number]['format'];

/** All of it as the server tells it: also what this tab has never loaded. */
export async function transcriptOf(id: string, format: Format): Promise<Blob> {
  const pieces: string[] = [];
  for await (const piece of transcript(id, format)) pieces.push(piece);
  const type = FORMATS.find((one) => one.format === format)?.mediaType ?? 'text/plain';
  return new Blob(pieces, { type });
}
