/**
 * Gathers devices that ask at the same time, so that one transaction admits them or makes them
 * wait.
 */
import { BatchWriter } from '../../database/batch-writer.js';
import type { Database } from '../../database/database.js';
import type { PendingEnrolment } from '../provisioning.js';
import type { RegistryLogger } from '../../registry-logger.js';
import { admitContacts } from './admit-contacts.js';
import type { Admission } from './admit-contacts.js';
import type { StoredContact } from './enrol-devices.js';
import { addPending, lockPending } from './pending-enrolments.js';
import type { DeviceCredentials } from '../credentials/device-credentials.js';

/** Each device holds an advisory lock until the commit; a server has some thousands. */
const ROWS_PER_WRITE = 200;
/** More than the boards that wait for an answer at a time. Others must ask again. */
const DEPTH_MAX = 2_000;
/** How long a device waits for others. */
const GATHER_MS = 5;

/** `admitted` is called with the ids of admitted devices, once that is committed. */
export function openAdmissionWriter(
  database: Database,
  logger: RegistryLogger,
  admitted: (deviceIds: readonly string[]) => void,
): BatchWriter<Admission, DeviceCredentials | undefined> {
  return new BatchWriter<Admission, DeviceCredentials | undefined>({
    name: 'enrolment',
    keyOf: ({ contact }) => contact.deviceId,
    rowsPerWrite: ROWS_PER_WRITE,
    depthMax: DEPTH_MAX,
    gatherMs: GATHER_MS,
    logger,
    write: async (arrivals) => {
      const known = await database.transaction((transaction) => admitContacts(transaction, arrivals));
      admitted(arrivals.map(({ contact }) => contact.deviceId));
      return known;
    },
  });
}

/** The writer for devices that wait for an approval. */
export function openRequestWriter(
  database: Database,
  logger: RegistryLogger,
): BatchWriter<StoredContact, PendingEnrolment> {
  return new BatchWriter<StoredContact, PendingEnrolment>({
    name: 'enrolment_request',
    keyOf: ({ deviceId }) => deviceId,
    rowsPerWrite: ROWS_PER_WRITE,
    depthMax: DEPTH_MAX,
    gatherMs: GATHER_MS,
    logger,
    write: (contacts) =>
      database.transaction(async (transaction) => {
        await lockPending(transaction, Math.max(...contacts.map(({ at }) => at)));
        return addPending(transaction, contacts);
      }),
  });
}
