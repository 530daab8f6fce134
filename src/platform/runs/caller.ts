import { TreadleError } from '../../base/errors.ts';
import type { Scope } from '../../kernel/stores.ts';

export type { Scope } from '../../kernel/stores.ts';

/** Who asks. A `compute` caller is code in a sandbox: no run is any of its business. */
export interface Caller {
  readonly userId: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly kind: 'user' | 'compute';
  readonly keyId?: string | undefined;
}

/** Throws `compute_forbidden` or `insufficient_scope`. Asked before the run is looked up: a refusal tells nothing of it. */
export function permit({ kind, scopes }: Caller, scope: Scope): void {
  if (kind === 'compute') throw new TreadleError('compute_forbidden');
  if (scopes.has(scope) || scopes.has('admin')) return;
  throw new TreadleError('insufficient_scope', { wanted: `the scope ${scope}` });
}

/** Whether a run is this caller's to see: its own, or any of the tenant for an admin. */
export function owns(caller: Caller, run: { readonly userId: string; readonly tenant: string }): boolean {
  return run.tenant === caller.tenant && (run.userId === caller.userId || caller.scopes.has('admin'));
}
