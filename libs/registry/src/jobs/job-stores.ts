/** The stores of jobs and their targets, one per reader. */
import type { Database } from '../database/database.js';
import type { EventStore } from '../events/event-store.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import { JobCommands } from './commands/job-commands.js';
import { TargetPreparation } from './preparation/target-preparation.js';
import { TargetQueue } from './queue/target-queue.js';
import { JobReads } from './reads/job-reads.js';
import { TargetVerification } from './verification/target-verification.js';

export interface JobStores {
  /** For everyone who looks at jobs. */
  readonly jobs: JobReads;
  /** For operators and the owner of a job: creates jobs and moves their state. */
  readonly jobCommands: JobCommands;
  /** Counts the devices of new jobs and previews; creates the targets and opens waves. */
  readonly targetPreparation: TargetPreparation;
  /** For the owner of a job while it sends calls. */
  readonly targetQueue: TargetQueue;
  /** For the owner of a job: judges targets whose call has ended, and reads values back. */
  readonly targetVerification: TargetVerification;
}

export function jobStoresOf(db: Database, events: EventStore, seal?: ArgumentSeal): JobStores {
  return {
    jobs: new JobReads(db),
    jobCommands: new JobCommands(db, events, seal),
    targetPreparation: new TargetPreparation(db),
    targetQueue: new TargetQueue(db),
    targetVerification: new TargetVerification(db),
  };
}
