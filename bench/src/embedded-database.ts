import { readFileSync } from 'node:fs';
import type { HubProcess } from '@flotilla/test/hub/hub-process';

/** The embedded server writes its port and keeps its password beside the cluster. */
export function embeddedDatabaseUrl({ dataDir }: HubProcess): string {
  const password = readFileSync(`${dataDir}/postgres.password`, 'utf8').trim();
  const port = readFileSync(`${dataDir}/postgres/postmaster.pid`, 'utf8').split('\n')[3] ?? '';
  return `postgres://flotilla:${password}@127.0.0.1:${port}/flotilla`;
}
