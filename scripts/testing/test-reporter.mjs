/**
 * A vitest reporter that writes files, tests and unhandled errors as JSON, for test-policy.mjs.
 * FLOTILLA_TEST_REPORT is the path of the JSON file.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const messages = (errors) => errors.map(({ message }) => message ?? 'no message');

export default class TestReporter {
  #root;

  onInit(vitest) {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => ({
      file: path.relative(this.#root, module.moduleId).replaceAll(path.sep, '/'),
      state: module.state(),
      errors: messages(module.errors()),
      tests: [...module.children.allTests()].map((test) => testOf(test.fullName, test.result())),
    }));
    writeFileSync(process.env.FLOTILLA_TEST_REPORT, JSON.stringify({ files, errors: messages(unhandledErrors) }));
  }
}

/** A test that did not end, because its file broke, counts as skipped; its file is failed. */
function testOf(name, { state, errors = [] }) {
  return { name, state: state === 'pending' ? 'skipped' : state, error: messages(errors)[0] };
}
