/**
 * All operations on jobs as one object. The classes are by reader: commands, reads, preparation,
 * queue, verification.
 */
import type { Database } from '../database/database.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import { JobCommands } from './commands/job-commands.js';
import { TargetPreparation } from './preparation/target-preparation.js';
import { TargetQueue } from './queue/target-queue.js';
import { JobReads } from './reads/job-reads.js';
import { TargetVerification } from './verification/target-verification.js';

type Methods<Class> = Pick<Class, keyof Class>;

export type JobStore = Methods<JobCommands> &
  Methods<JobReads> &
  Methods<TargetPreparation> &
  Methods<TargetQueue> &
  Methods<TargetVerification>;

export function jobStoreOf(db: Database, seal?: ArgumentSeal): JobStore {
  const parts = [
    new JobCommands(db, seal),
    new JobReads(db),
    new TargetPreparation(db),
    new TargetQueue(db),
    new TargetVerification(db),
  ];
  const methods = parts.flatMap((part) =>
    Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(part)))
      .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
      .map(([name, { value }]) => [name, (value as (...args: unknown[]) => unknown).bind(part)]),
  );
  return Object.fromEntries(methods) as JobStore;
}
