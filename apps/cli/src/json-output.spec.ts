/** With `-o json` each command prints one document, or says why it cannot. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from './exit-codes.js';
import { idIn, isRunnable, leaves, openExamples, type Examples } from './examples.suite.js';
import { runCommand } from './run-command.suite.js';

/** Commands that print something else, as docs/command-line.md says. */
const otherOutput: Readonly<Record<string, string>> = {
  'devices import': 'prints credentials as JSON lines, batch by batch',
  'import xiaozhi-server': 'prints boards as JSON lines, batch by batch',
  export: 'prints YAML',
  completion: 'prints a script',
  open: 'prints an address',
  mcp: 'speaks MCP',
};

let examples: Examples;
beforeAll(async () => {
  examples = await openExamples();
});
afterAll(() => examples.close());

describe('one JSON document', () => {
  const lines = leaves
    .filter(({ name }) => !(name in otherOutput))
    .flatMap((shown) => shown.command.examples.map((example) => ({ example, shown })))
    .filter(({ example }) => isRunnable(example) && !/--output|--json|--stdout/.test(example));

  it.each(lines)('is printed by: flotilla $example', async ({ example, shown }) => {
    examples.hub.restart(idIn(example));
    const { stdout } = await runCommand(examples.hub, [...examples.wordsOf(example, shown), '-o', 'json']);
    expect(() => JSON.parse(stdout) as unknown, stdout).not.toThrow();
  });

  it.each(['events tail', 'devices log 02:00:00:00:00:01', 'devices --watch'])(
    'cannot come from: flotilla %s',
    async (line) => {
      const { code, problem, stdout } = await runCommand(examples.hub, [...line.split(' '), '-o', 'json']);
      expect([code, problem, stdout]).toEqual([exitCodes.usage, expect.stringContaining('Use jsonl.'), '']);
    },
  );
});
