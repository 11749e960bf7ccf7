/**
 * The road to a story's PostgreSQL, which can be cut and blocked as in a real outage: a relay in
 * front of the server of the test run.
 */
import { openRelay, type SeverableRelay } from './severable-relay.js';
import { openTestDatabase } from './test-database.js';

export interface SeverablePostgres extends Omit<SeverableRelay, 'port'> {
  /** By way of the relay. */
  readonly url: string;
  close(): Promise<void>;
}

export async function openSeverablePostgres(): Promise<SeverablePostgres> {
  const database = await openTestDatabase();
  const url = new URL(database.url);
  const relay = await openRelay({ host: url.hostname, port: Number(url.port) });
  url.port = String(relay.port);
  return {
    ...relay,
    url: url.href,
    close: async () => {
      await relay.cut();
      await database.close();
    },
  };
}
