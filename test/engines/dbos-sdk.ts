import { createRequire } from 'node:module';
import type { Sdk } from '../../src/adapters/engines/dbos/sdk.ts';

const require = createRequire(import.meta.url);

/** DBOS keeps its state in its modules, one in a process: a further copy is as another process. */
export function anotherSdk(): Sdk {
  for (const file of Object.keys(require.cache))
    if (file.includes('/@dbos-inc/dbos-sdk/')) Reflect.deleteProperty(require.cache, file);
  return require('@dbos-inc/dbos-sdk') as Sdk; // what the package exports
}
