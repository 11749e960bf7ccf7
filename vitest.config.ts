/** Unit and contract specs beside the code, and the black-box stories in test/ over the built hub. */
import { defineConfig } from 'vitest/config';

/** Also handed to Node as `--conditions`, for every require: `import` or `module` among them would give CommonJS packages modules. */
const conditions = ['@flotilla/source', 'node'];
/** Node loads the CommonJS graphql for everybody; vitest would give our own files the other copy, and graphql refuses to work with two. */
const alias = [{ find: /^graphql$/, replacement: 'graphql/index.js' }];
const fromSource = { resolve: { conditions, alias }, ssr: { resolve: { conditions, externalConditions: conditions } } };

export default defineConfig({
  ...fromSource,
  test: {
    // Once for the run and not once for each project: the migrations' engine is one WebAssembly instance per process, and a second would write into its memory.
    globalSetup: './libs/registry/src/test-server.ts',
    projects: [
      {
        ...fromSource,
        test: {
          name: 'specs',
          include: ['libs/*/src/**/*.spec.ts', 'apps/*/src/**/*.spec.ts', 'bench/src/**/*.spec.ts'],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...fromSource,
        test: {
          name: 'stories',
          include: ['test/**/*.spec.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
