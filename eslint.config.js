import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  // The peers' types are known only where the peers are installed.
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'bench/peers/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],

      // node:test reports a failed test by itself; awaiting the call would only add noise.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'describe', 'suite', 'it', 'before', 'after'] },
          ],
        },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],

      // Numbers and booleans read well in a message; objects and undefined do not, and stay forbidden.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A port's method may be asynchronous in its contract and have nothing to wait for in one implementation.
      '@typescript-eslint/require-await': 'off',
      // A retry loop or a stream reader says what it means with `for (;;)` or `while (true)`.
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // A handler that may answer with nothing is `void | Answer`.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // There are no enums; the test of the architecture sees to that, and looking for them takes seconds.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // One type parameter used once still ties a caller's argument to a schema or a map.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // The table of a closed set is often a `Record<string, X>` from which an entry is removed.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // Cleaning text that comes from a model or a tool means naming control characters.
      'no-control-regex': 'off',
      eqeqeq: 'error',
    },
  },
  { files: ['src/**'], ignores: ['src/cli/**'], rules: { 'no-console': 'error' } },
  {
    files: ['**/*.test.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // A test that trips over a missing value fails, which is all it has to do.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['web/public/*.js'], languageOptions: { globals: { document: 'readonly', localStorage: 'readonly' } } },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: { process: 'readonly', console: 'readonly', URL: 'readonly', setInterval: 'readonly' },
    },
  },
);
