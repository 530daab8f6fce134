import type { FilePart } from '../../domain/content.ts';
import { sha256 } from '../../base/digest.ts';
import type { Search } from '../../domain/provider-search.ts';

/**
 * What one family of providers accepts in a transcript, beyond what its AI SDK package takes care of.
 *
 * Every field is there because a request was refused, or a result was lost, without it.
 */
export interface Dialect {
  /** The provider's key in the metadata it hands out and wants back. */
  readonly key: string;
  /** `signed`: thinking goes back with the provider's own metadata or not at all. `plain`: as text too. */
  readonly thinking: 'signed' | 'plain';
  /** `marked`: the provider has a flag for a failed result. Elsewhere the package wraps the text once more. */
  readonly failures: 'marked' | 'plain';
  /** Files of a result go inside it, or into a user message after all results, where results are text only. */
  readonly resultFiles: 'inside' | 'after';
  /** Files that the model made go back to it. */
  readonly returnsFiles: boolean;
  /** The provider keeps what it is sent unless it is told not to. */
  readonly storesAnswers: boolean;
  /** The provider's own search for tools that are kept out of the prompt: its id in the package, and its name. */
  readonly search?: { readonly id: `${string}.${string}`; readonly name: string } | undefined;
  /** The provider's own search of the web: its id in the package, its name on the wire, and what it can be told. */
  readonly webSearch?:
    | {
        readonly id: `${string}.${string}`;
        readonly name: string;
        readonly args: (search: Search) => Record<string, unknown>;
      }
    | undefined;
  /** Whether the file may be sent as a file. Text files are never asked about: they go as text. */
  readonly accepts: (file: FilePart) => boolean;
  /** An action's id as the provider accepts it: ours has at most 64 characters. */
  readonly wireId: (id: string) => string;
}

const FULL_MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

const same = (id: string): string => id;

export const anthropicDialect: Dialect = {
  key: 'anthropic',
  thinking: 'signed',
  failures: 'marked',
  resultFiles: 'inside',
  returnsFiles: false,
  storesAnswers: false,
  search: { id: 'anthropic.tool_search_bm25_20251119', name: 'tool_search_tool_bm25' },
  // Later ones run code at the provider to sift what they find, which is another thing to allow.
  webSearch: {
    id: 'anthropic.web_search_20250305',
    name: 'web_search',
    args: ({ maxUses, sites, notSites }) => ({
      maxUses,
      ...(sites !== undefined && { allowedDomains: sites }),
      ...(notSites !== undefined && { blockedDomains: notSites }),
    }),
  },
  accepts: ({ mediaType }) => PICTURES.has(mediaType) || mediaType === 'application/pdf',
  wireId: same,
};

export const openaiResponsesDialect: Dialect = {
  key: 'openai',
  thinking: 'signed',
  failures: 'plain',
  resultFiles: 'inside',
  returnsFiles: false,
  storesAnswers: true,
  search: { id: 'openai.tool_search', name: 'tool_search' },
  webSearch: {
    id: 'openai.web_search',
    name: 'web_search',
    args: ({ sites, notSites }) =>
      sites === undefined && notSites === undefined
        ? {}
        : {
            filters: {
              ...(sites !== undefined && { allowedDomains: sites }),
              ...(notSites !== undefined && { blockedDomains: notSites }),
            },
          },
  },
  accepts: anthropicDialect.accepts,
  wireId: same,
};

/** The same API at Azure, whose package has a key of its own. */
export const azureResponsesDialect: Dialect = {
  ...openaiResponsesDialect,
  key: 'azure',
  search: undefined,
  webSearch: undefined,
};

/** Chat Completions refuses ids of more than 40 characters. */
const CHAT_ID_MAX = 40;
const chatId = (id: string): string => (id.length <= CHAT_ID_MAX ? id : `call_${sha256(id)}`.slice(0, CHAT_ID_MAX));

export const openaiChatDialect: Dialect = {
  ...openaiResponsesDialect,
  resultFiles: 'after',
  storesAnswers: false,
  search: undefined,
  webSearch: undefined,
  // A PDF by URL makes the package throw.
  accepts: (file) => PICTURES.has(file.mediaType) || (file.mediaType === 'application/pdf' && file.data !== undefined),
  wireId: chatId,
};

export const googleDialect: Dialect = {
  key: 'google',
  thinking: 'signed',
  failures: 'marked',
  // Gemini 2 takes no files inside a result, and the package then answers one call twice.
  resultFiles: 'after',
  returnsFiles: true,
  storesAnswers: false,
  webSearch: { id: 'google.google_search', name: 'google_search', args: () => ({}) },
  accepts: ({ mediaType }) =>
    FULL_MEDIA_TYPE.test(mediaType) && /^(image|audio|video)\/|^application\/pdf$/.test(mediaType),
  wireId: same,
};

/** Servers that speak Chat Completions. `name` is the provider's name, which the package uses as the metadata key. */
export function compatibleDialect(name: string, baseUrl: string): Dialect {
  return {
    ...openaiChatDialect,
    key: name,
    thinking: 'plain',
    accepts: ({ mediaType }) => mediaType.startsWith('image/') && FULL_MEDIA_TYPE.test(mediaType),
    wireId: isMistral(name, baseUrl) ? mistralId : chatId,
  };
}

/** Any other AI SDK package: what all of them have in common. */
export function otherDialect(key: string): Dialect {
  return { ...compatibleDialect(key, ''), wireId: isMistral(key, '') ? mistralId : chatId };
}

function isMistral(name: string, baseUrl: string): boolean {
  return name === 'mistral' || /\bmistral\.ai\b/.test(baseUrl);
}

/** Mistral wants exactly nine characters of `a-zA-Z0-9`. */
function mistralId(id: string): string {
  return sha256(id).slice(0, 9);
}
