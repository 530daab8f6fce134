import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('what a package itself fails at is not told as a missing package', async () => {
  const broken = Object.assign(new Error("Cannot find package 'its-own' imported from x"), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  await assert.rejects(
    optionalPackage(() => Promise.reject(broken), wanted),
    broken,
  );
});
