/** A firmware image is deleted while a roll-out of it is created: one of the two fails. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FirmwareImageStore } from '../../firmware/firmware-image-store.js';
import { ArgumentSeal } from '../../secrets/argument-seal.js';
import { holdImages, insertJobs } from '../commands/insert-job.js';
import { addImage, openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { createJob, newJob } from '../new-job.suite.js';

const RACES = 30;

describe('an image that is deleted while a roll-out of it is made', () => {
  let fixture: JobFixture;
  let images: FirmwareImageStore;

  beforeAll(async () => {
    fixture = await openJobFixture();
    images = new FirmwareImageStore(fixture.db);
  });
  afterAll(() => fixture.close());

  /** The number of deletions that wait for a lock on their row. */
  const waitingDeletions = () =>
    fixture.db.query(
      {
        text: `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                 AND query LIKE '%firmware_image%'`,
      },
      [],
    );

  it('stays where the job was first, however late that is written', async () => {
    const firmwareImageId = await addImage(images);
    const job = newJob({ firmwareImageId });
    const removal = await fixture.db.transaction(async (transaction) => {
      expect(await holdImages(transaction, [job])).toBe(true);
      const removing = images.remove(firmwareImageId, Date.now());
      await expect.poll(waitingDeletions).toHaveLength(1);
      expect(await insertJobs(transaction, [job], new ArgumentSeal())).toHaveLength(1);
      // Wrapped: a transaction that waited for the deletion would wait for ever.
      return { removing };
    });
    expect(await removal.removing).toEqual({ kind: 'IN_USE' });
    expect(await images.find(firmwareImageId)).toBeDefined();
  });

  it('is gone where the deletion was first, and no job is made, nor any of those that come with it', async () => {
    const [gone, there] = [await addImage(images), await addImage(images)];
    expect(await images.remove(gone, Date.now())).toMatchObject({ kind: 'removed' });
    const jobs = [newJob({ firmwareImageId: there }), newJob({ firmwareImageId: gone })];
    expect(await fixture.jobCommands.createAll(jobs, { actor: 'spec' })).toEqual({ kind: 'image_missing' });
    for (const { id } of jobs) expect(await fixture.jobs.find(id)).toBeUndefined();
    expect(
      await fixture.db.query({ text: `SELECT FROM audit_entry WHERE subject = ANY($1)` }, [
        jobs.map(({ id }) => `job:${id}`),
      ]),
    ).toEqual([]);
  });

  it('is never rolled out after its deletion, in any order', async () => {
    for (let race = 0; race < RACES; race++) {
      const firmwareImageId = await addImage(images);
      const [created, removed] = await Promise.all([
        createJob(fixture.jobCommands, newJob({ firmwareImageId })),
        images.remove(firmwareImageId, Date.now()),
      ]);
      expect(['created IN_USE', 'image_missing removed']).toContain(`${created.kind} ${removed.kind}`);
    }
  });
});
