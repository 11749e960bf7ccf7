/** A migrated database with devices, one hub process with a lease, and jobs, for specs of jobs. */
import { randomUUID } from 'node:crypto';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { Database } from '../database/database.js';
import { EventStore } from '../events/event-store.js';
import type { FirmwareImageStore } from '../firmware/firmware-image-store.js';
import type { NewJob } from './commands/new-job.js';
import type { JobFence } from './job-fence.js';
import { openTestDatabase } from '../test-database.js';
import { AT, createJob, newJob } from './new-job.suite.js';
import { jobStoresOf, type JobStores } from './job-stores.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface JobFixture extends JobStores {
  readonly db: Database;
  readonly events: EventStore;
  readonly owner: HubProcessId;
  /** Creates `count` devices with the owner as gateway. Ids are in the order of their numbers. */
  addDevices(count: number, isOnline?: boolean): Promise<readonly DeviceId[]>;
  setOnline(deviceId: DeviceId, isOnline: boolean): Promise<void>;
  /** A process with a living lease, or with one that has ended. */
  addProcess(isAlive?: boolean): Promise<HubProcessId>;
  endLease(process: HubProcessId): Promise<void>;
  /** A job over the whole fleet, owned, prepared and running. */
  runningJob(change?: Partial<NewJob>, waveSizes?: readonly number[]): Promise<JobFence>;
  close(): Promise<void>;
}

export async function openJobFixture(): Promise<JobFixture> {
  const database = await openTestDatabase();
  const db = new Database(database.databaseUrl, 4, silent);
  const events = new EventStore(db, undefined, silent);
  const stores = jobStoresOf(db, events);
  const { jobs, jobCommands, targetPreparation, targetQueue } = stores;
  const addProcess = async (isAlive = true) => {
    const id = randomUUID() as HubProcessId;
    const lease = isAlive ? '1 hour' : '-1 second';
    await db.query(
      {
        text: `INSERT INTO hub_process (id, host, pid, started_at, lease_until)
               VALUES ($1, 'spec', 1, now(), now() + $2::interval)`,
      },
      [id, lease],
    );
    return id;
  };
  const owner = await addProcess();
  let devices = 0;
  return {
    ...stores,
    db,
    events,
    owner,
    addProcess,
    addDevices: async (count, isOnline = true) => {
      const rows = await db.query<{ id: DeviceId }>(
        {
          text: `INSERT INTO device (id, dialect, reachability, epoch, online, gateway_id)
            SELECT 'device-' || lpad(n::text, 7, '0'), 'XIAOZHI', 'ALWAYS', 1, $3, $4
            FROM generate_series($1::int, $2::int) AS n RETURNING id`,
        },
        [devices, devices + count - 1, isOnline, owner],
      );
      devices += count;
      return rows.map((row) => row.id);
    },
    setOnline: async (deviceId, isOnline) =>
      void (await db.query({ text: 'UPDATE device SET online = $2, epoch = epoch + 1 WHERE id = $1' }, [
        deviceId,
        isOnline,
      ])),
    endLease: async (process) =>
      void (await db.query({ text: `UPDATE hub_process SET lease_until = now() - interval '1 second' WHERE id = $1` }, [
        process,
      ])),
    runningJob: async (change, waveSizes = []) => {
      const guard = { gate: 'AUTO', successThreshold: 1, soakSeconds: 0 } as const;
      const job = newJob({ waves: waveSizes.map((count) => ({ count, ...guard })), ...change });
      await createJob(jobCommands, job);
      const fence = await targetQueue.takeOwnership(job.id, owner);
      if (!fence) throw new Error('a new job has no owner');
      while (((await targetPreparation.prepareChunk(fence, [], 1_000, AT)) ?? 0) > 0);
      await targetPreparation.freeze(
        fence,
        waveSizes.map((size, index) => ({ number: index + 1, size, ...guard })),
      );
      const prepared = await jobs.find(job.id);
      if (prepared) await jobCommands.transition(prepared, { state: 'RUNNING' }, AT);
      return fence;
    },
    close: async () => {
      await db.close();
      await database.close();
    },
  };
}

/** Adds a firmware image that is not published, and resolves to its id. */
export async function addImage(images: FirmwareImageStore): Promise<string> {
  const id = randomUUID();
  await images.add({
    id,
    kind: 'FIRMWARE',
    project: 'xiaozhi',
    version: '2.5.0',
    chip: 'esp32s3',
    idfVersion: undefined,
    sizeBytes: 1_000,
    elfSha256: undefined,
    sha256: randomUUID(),
    storageKey: 'x',
    fileName: 'x.bin',
    uploadedAt: Date.now(),
    uploadedBy: 'spec',
  });
  return id;
}
