/** What a measured process of the hub needs besides its own part: a real PostgreSQL, and a bus. */
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openLocalBus } from '@flotilla/bus';
import { openRegistry, startEmbeddedPostgres } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';

export const clock: Clock = {
  now: Date.now,
  setTimer: (delayMs, wake) => {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};

export const ignore = () => undefined;
const warn = (details: object, message: string) => void process.stderr.write(`${message} ${JSON.stringify(details)}\n`);
export const logger = { debug: ignore, info: ignore, warn, error: warn };

/** In a new data folder; the caller closes all, and removes the folder. */
export async function openServices() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'flotilla-bench-'));
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir });
  const registry = await openRegistry({ databaseUrl: postgres.databaseUrl, dataDir, logger });
  const lease = await registry.takeLease({ aloneOnDatabase: true });
  const bus = await openLocalBus({ databaseUrl: postgres.databaseUrl, logger });
  return { dataDir, postgres, registry, lease, bus };
}
