/** Specs beside the code, and stories in test/ that drive the built programs. */
import { defineConfig } from 'vitest/config';
import { firstStories } from './scripts/testing/first-stories.mjs';
import { PATIENCE } from './test/src/patience.js';

/**
 * Vitest also passes these to Node as `--conditions`, for every require.
 * With `import` or `module` among them, CommonJS packages would get ES modules.
 */
const conditions = ['@flotilla/source', 'node'];
/**
 * Node loads the CommonJS copy of graphql, vitest the other one for files of this repository.
 * graphql throws when a process uses two copies.
 */
const alias = [{ find: /^graphql$/, replacement: 'graphql/index.js' }];
/** Long waits, because tests with real processes share few cores. */
const longWaits = { setupFiles: ['./test/patience.ts'], expect: { poll: { timeout: 10_000 * PATIENCE } } };
/** The files in test/repository read the repository and start nothing. */
const stories =
  process.env['FLOTILLA_TEST_STORIES'] === 'first'
    ? ['test/repository/*.spec.ts', ...firstStories]
    : ['test/**/*.spec.ts'];
const fromSource = { resolve: { conditions, alias }, ssr: { resolve: { conditions, externalConditions: conditions } } };

export default defineConfig({
  ...fromSource,
  test: {
    // Once per run, not per project: the engine of the migrations is one WebAssembly instance
    // per process, and a second one would write into its memory.
    globalSetup: ['./libs/registry/src/test-server.ts', './libs/bus/src/test-queue.suite.ts'],
    projects: [
      {
        ...fromSource,
        test: {
          ...longWaits,
          name: 'specs',
          include: ['libs/*/src/**/*.spec.ts', 'apps/*/src/**/*.spec.ts', 'bench/src/**/*.spec.ts'],
          // Specs mock no modules and keep no state in them, so files share imports. That saves
          // two thirds of the time.
          isolate: false,
          maxWorkers: 4,
          testTimeout: 20_000 * PATIENCE,
          hookTimeout: 60_000 * PATIENCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...fromSource,
        test: {
          ...longWaits,
          name: 'stories',
          include: stories,
          testTimeout: 120_000 * PATIENCE,
          hookTimeout: 120_000 * PATIENCE,
          // They start hubs: three keep two cores busy, and with a fourth all wait longer.
          // In the long form some measure, so they run alone.
          maxWorkers: process.env['FLOTILLA_TEST_LONG'] === '1' ? 1 : 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
