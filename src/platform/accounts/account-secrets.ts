import type { SecretStore } from '../../kernel/stores.ts';
import type { Environment } from '../bundle/environment.ts';

/** What seals accounts: the operator's own, the newest first, and one that is kept with them. Never empty. */
export async function accountSecrets(store: SecretStore, environment: Environment): Promise<readonly string[]> {
  const own = (environment['TREADLE_ACCOUNTS_KEY'] ?? '').split(',').map((one) => one.trim());
  return [...own.filter((one) => one !== ''), await store.secret('accounts')];
}
