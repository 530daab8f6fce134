import type { z } from 'zod';
import type { WireErrorCode } from './errors.ts';

/** What a route takes and gives, and nothing of how: the server, the documents and a client read the same table. */
export interface RouteShape {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Parameters in braces: `/runs/{id}`. */
  readonly path: string;
  readonly about: string;
  /** The scope that the least of it needs. Absent: anybody may ask. */
  readonly scope?: 'read' | 'run' | 'approve' | 'admin';
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** A body may be left out, and counts as `{}` then. */
  readonly bodyOptional?: true;
  /** Takes an `Idempotency-Key`. */
  readonly mutation?: true;
  readonly status: 200 | 201 | 202 | 204;
  readonly reply?: z.ZodType;
  /** Of a reply that is no JSON. */
  readonly contentType?: string;
  /** Codes of its own, besides those that any route may answer. */
  readonly refuses: readonly WireErrorCode[];
}

export type RouteTable = Readonly<Record<string, RouteShape>>;

type Parsed<R extends RouteShape, K extends 'params' | 'query' | 'body'> =
  R[K] extends z.ZodType<infer T> ? T : undefined;

/** What a route's handler is given. */
export interface Asked<R extends RouteShape> {
  readonly params: Parsed<R, 'params'>;
  readonly query: Parsed<R, 'query'>;
  readonly body: Parsed<R, 'body'>;
}
