import { existsSync } from 'node:fs';
import path from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Hono } from 'hono';
import type { HttpEnv } from './context.ts';

/** Beside the sources it is in `dist/`; in the package it is beside this folder. */
const FOLDERS = [path.join(import.meta.dirname, '../../dist/web'), path.join(import.meta.dirname, '../web')];

/**
 * What the page may do: run its own files and speak to its own server. No script, style or image from anywhere else, so that
 * what a model writes can neither run nor send word to a stranger.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** What the page knows to show, besides the beginning. */
const ADDRESSES = [
  ...[
    '/r/*',
    '/approvals',
    '/agents',
    '/agents/*',
    '/usage',
    '/budgets',
    '/keys',
    '/accounts',
    '/allowances',
    '/notes',
  ],
] as const;

/** A year, in seconds: the name of such a file changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Where the built page is; undefined where nobody has built it. */
export function pageFolder(): string | undefined {
  return FOLDERS.find((folder) => existsSync(path.join(folder, 'index.html')));
}

/** Hands out the page: its files under their names, and the page itself for every address that it knows how to show. */
export function servePage(hono: Hono<HttpEnv>, folder: string): void {
  const files = serveStatic<HttpEnv>({
    root: folder,
    onFound: (file, context) => {
      context.header('Content-Security-Policy', POLICY);
      context.header('Cache-Control', file.includes(`${path.sep}assets${path.sep}`) ? FOREVER : 'no-cache');
    },
  });
  const page = serveStatic<HttpEnv>({
    path: path.join(folder, 'index.html'),
    onFound: (_file, context) => {
      context.header('Content-Security-Policy', POLICY);
      context.header('Cache-Control', 'no-cache');
    },
  });
  hono.get('/', page);
  hono.get('/*', async (context, next) => {
    context.set('route', 'page');
    return files(context, next);
  });
  for (const address of ADDRESSES) hono.get(address, page);
  // A person who lost the way is told so by the page; a program by the error that programs are told.
  hono.get('/*', async (context, next) => {
    const isPerson = context.req.header('accept')?.includes('text/html') === true;
    if (!isPerson || /^\/(api|ag-ui|mcp)(\/|$)/.test(context.req.path)) return next();
    const shown = await page(context, next);
    return shown instanceof Response ? new Response(shown.body, { status: 404, headers: shown.headers }) : undefined;
  });
}
