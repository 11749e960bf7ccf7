/**
 * Adds the schema of the tick queue to the database that specs and stories copy theirs from
 * (`globalSetup` of vitest.config.ts, after the server of the test run).
 */
import { openLocalBus } from './local-bus.js';

/** A bus that makes the schema itself takes 200 ms more to open. @public */
export default async function prepareTickQueue(): Promise<void> {
  const url = new URL(process.env['FLOTILLA_TEST_POSTGRES'] ?? '');
  url.pathname = '/migrated';
  const note = (fields: object, message: string): void => {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  };
  const bus = await openLocalBus({ databaseUrl: url.href, logger: { warn: note, error: note } });
  await bus.close();
}
