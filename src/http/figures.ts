import type { MaybePromise } from '../base/promise.ts';

/** Where the server tells what it does, for whoever keeps figures. */
export interface Figures {
  /** A request was answered. `route` is a name of a route table, or `none`. */
  answered(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly ms: number;
  }): void;
  /** So many streams are open. */
  streams(open: number): void;
  /** All figures, in a format of Prometheus. */
  read(): MaybePromise<{ readonly contentType: string; readonly text: string }>;
}
