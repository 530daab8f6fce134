import type { HttpBindings } from '@hono/node-server';
import type { Context, Env } from 'hono';

export interface HttpEnv extends Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    requestId: string;
    /** The route's name, for figures and log lines. */
    route: string;
    /** Who asked, as log lines call them. */
    who: string;
  };
}
export type HttpContext = Context<HttpEnv>;
