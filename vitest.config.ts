/** Unit and contract specs beside the code, and the black-box stories in test/ over the built hub. */
import { defineConfig } from 'vitest/config';

/** Also handed to Node as `--conditions`, for every require: `import` or `module` among them would give CommonJS packages modules. */
const conditions = ['@flotilla/source', 'node'];
/** Node loads the CommonJS graphql for everybody; vitest would give our own files the other copy, and graphql refuses to work with two. */
const alias = [{ find: /^graphql$/, replacement: 'graphql/index.js' }];
/** Real sockets and processes share few cores here: a condition gets the time that a busy machine needs. `patience.ts` does the same for `vi.waitFor`. */
const patient = { setupFiles: ['./test/patience.ts'], expect: { poll: { timeout: 10_000 } } };
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
          ...patient,
          name: 'specs',
          include: ['libs/*/src/**/*.spec.ts', 'apps/*/src/**/*.spec.ts', 'bench/src/**/*.spec.ts'],
          // Nothing is mocked and nothing kept in modules, so files may share what they import: it costs a third of the time. Many wait for sockets.
          isolate: false,
          maxWorkers: 4,
          testTimeout: 20_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...fromSource,
        test: {
          ...patient,
          name: 'stories',
          include: ['test/**/*.spec.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Stories wait for processes more than they compute. In the long form some measure, and need the machine for themselves.
          maxWorkers: process.env['FLOTILLA_TEST_LONG'] === '1' ? 1 : 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
