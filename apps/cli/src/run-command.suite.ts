/** Runs a command in this process, against a hub that is made of the schema. */
import { captured } from './console/captured-output.suite.js';
import { exitCodeOf } from './exit-codes.js';
import { programOf } from './program.js';
import type { SchemaHub } from './schema-hub.suite.js';

export interface RunCommand {
  readonly code: unknown;
  /** The error that ended it, or else an empty text. */
  readonly problem: string;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runCommand(hub: Pick<SchemaHub, 'url'>, words: readonly string[]): Promise<RunCommand> {
  const { result, stdout, stderr } = await captured(async () => {
    try {
      await programOf([...words, '--url', hub.url, '--key', 'a-key']).parseAsync();
      return { code: process.exitCode, problem: '' };
    } catch (error) {
      return { code: exitCodeOf(error), problem: String(error) };
    } finally {
      process.exitCode = undefined;
    }
  });
  return { ...result, stdout, stderr };
}
