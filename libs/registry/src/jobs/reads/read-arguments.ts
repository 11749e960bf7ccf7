/** The arguments of a job as devices get them. For the process that sends them and no other reader. */
import type { Job } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import type { ArgumentSeal } from '../../secrets/argument-seal.js';

interface ArgumentsRecord {
  readonly arguments: Job['arguments'];
  readonly secret_arguments: Buffer | null;
}

export async function readArguments(
  db: Queryable,
  seal: ArgumentSeal,
  id: JobId,
): Promise<Job['arguments'] | 'lost' | undefined> {
  const text = 'SELECT arguments, secret_arguments FROM job WHERE id = $1';
  const [row] = await db.query<ArgumentsRecord>({ name: 'job-arguments', text }, [id]);
  if (row === undefined || row.secret_arguments === null) return row?.arguments;
  return seal.open(id, row.secret_arguments) ?? 'lost';
}
