import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { PACKAGE } from '../../src/adapters/engines/dbos/sdk.ts';
import { optionalPackage } from '../../src/adapters/modules/optional-package.ts';

const wanted = { purpose: 'reading tea leaves', needs: ['no-such-package-of-tea'] };

test('a package that is not installed is told with what to install', async () => {
  const name = 'no-such-package-of-tea';
  await assert.rejects(
    optionalPackage(() => import(name), wanted),
    {
      code: 'package_missing',
      message:
        'reading tea leaves: wanted the package no-such-package-of-tea; npm install no-such-package-of-tea (package_missing)',
    },
  );
});

test('a package of which the newest will not do is told with its range, and that is the one of package.json', async () => {
  const name = '@tea/leaves';
  await assert.rejects(
    optionalPackage(() => import(name), { ...wanted, needs: ['@tea/leaves@~1.2.0'] }),
    /wanted the package @tea\/leaves@~1\.2\.0; npm install @tea\/leaves@~1\.2\.0 /,
  );
  assert.equal(PACKAGE, `@dbos-inc/dbos-sdk@${manifest.peerDependencies['@dbos-inc/dbos-sdk']}`);
});

test('what a package itself fails at is not told as a missing package', async () => {
  const broken = Object.assign(new Error("Cannot find package 'its-own' imported from x"), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  await assert.rejects(
    optionalPackage(() => Promise.reject(broken), wanted),
    broken,
  );
});
