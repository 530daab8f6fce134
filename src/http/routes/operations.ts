import type { Handlers } from '../endpoint.ts';
import type { Figures } from '../figures.ts';
import { openApiDocument } from '../openapi.ts';
import { referencePage } from '../reference.ts';

import { Refusal, refusalOf } from '../refusal.ts';
import type { operationRoutes } from '../wire.ts';

export interface OperationPorts {
  readonly version: string;
  readonly publicUrl?: string | undefined;
  /** Rejects while requests cannot be served. */
  readonly check: () => Promise<unknown>;
  readonly figures: Figures | undefined;
}

/** Whether the server lives and serves, what it does, and what it offers. */
export function operationHandlers({
  version,
  publicUrl,
  check,
  figures,
}: OperationPorts): Handlers<typeof operationRoutes> {
  const document = lazy(() => JSON.stringify(openApiDocument({ version, publicUrl })));
  const page = lazy(() => referencePage(openApiDocument({ version, publicUrl })));
  return {
    health: (_asked, { context }) => context.json({ status: 'ok', version }),
    async ready(_asked, { context }) {
      try {
        await check();
        return context.json({ ready: true });
      } catch (problem) {
        const { code } = refusalOf(problem);
        const isTold = code === 'shutting_down' || code === 'log_full';
        throw new Refusal(isTold ? code : 'log_unavailable', undefined, { cause: problem });
      }
    },
    async metrics(_asked, { context }) {
      if (figures === undefined) throw new Refusal('not_found', 'No figures are kept.');
      const { contentType, text } = await figures.read();
      return context.body(text, 200, { 'Content-Type': contentType });
    },
    openapi: (_asked, { context }) => context.body(document(), 200, { 'Content-Type': 'application/json' }),
    docs: (_asked, { context }) => {
      const { html, styleHash } = page();
      context.header('Content-Security-Policy', `default-src 'none'; style-src '${styleHash}'; frame-ancestors 'none'`);
      return context.html(html);
    },
  };
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
