import type { Statements } from './statements.ts';

/** Long texts, each stored once under its SHA-256. */
export interface Blobs {
  /** Inside a transaction: the text's key, after adding it when it is new. */
  keyOf(hash: string, text: string): number;
  /** Lets a conversation read the text by its hash. */
  grant(conversation: number, key: number): void;
  text(key: number): string | undefined;
  granted(conversationId: string, hash: string): string | undefined;
}

export function createBlobs(sql: Statements): Blobs {
  return {
    keyOf(hash, text) {
      const bytes = Buffer.from(hash, 'hex');
      const known = sql('findBlob').get(bytes)?.['key'];
      return Number(known ?? sql('addBlob').run(bytes, Buffer.from(text)).lastInsertRowid);
    },
    grant(conversation, key) {
      sql('grantBlob').run(conversation, key);
    },
    text: (key) => textOf(sql('blob').get(key)?.['content']),
    granted: (conversationId, hash) =>
      textOf(sql('grantedBlob').get(conversationId, Buffer.from(hash, 'hex'))?.['content']),
  };
}

// As bytes and not as SQL text, so that a body may have anything in it and is never copied through a decoder twice.
function textOf(content: unknown): string | undefined {
  if (!(content instanceof Uint8Array)) return undefined;
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
}
