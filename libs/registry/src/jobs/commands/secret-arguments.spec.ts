import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArgumentSeal } from '../../secrets/argument-seal.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT, createJob, newJob } from '../new-job.suite.js';
import { JobCommands } from './job-commands.js';

const SECRET = 'correct horse battery staple';
const args = { ssid: 'net', password: SECRET, nets: [{ psk: SECRET }] };
const shown = { ssid: 'net', password: '***', nets: [{ psk: '***' }] };

describe('the secret arguments of a job', () => {
  let fixture: JobFixture;
  let jobCommands: JobCommands;
  const commandsWith = (key: string) => new JobCommands(fixture.db, fixture.events, new ArgumentSeal(key));
  const inDatabase = async (id: string) =>
    JSON.stringify(
      (await fixture.db.query({ text: 'SELECT * FROM job WHERE id = $1' }, [id]))[0],
      (_name, value: unknown) => (Buffer.isBuffer(value) ? value.toString('utf8') : value),
    );

  beforeAll(async () => {
    fixture = await openJobFixture();
    jobCommands = commandsWith('key');
  });
  afterAll(() => fixture.close());

  it('are masked for every reader, in the row as well, and whole for the process that sends them', async () => {
    const job = newJob({ arguments: args });
    expect(await createJob(jobCommands, job)).toMatchObject({ kind: 'created', job: { arguments: shown } });
    expect((await fixture.jobs.find(job.id))?.arguments).toEqual(shown);
    expect(await inDatabase(job.id)).not.toContain(SECRET);
    expect(await commandsWith('key').argumentsOf(job.id)).toEqual(args);
  });

  it('are lost to a process with another key, or where they were moved to another job', async () => {
    const [one, other] = [newJob({ arguments: args }), newJob({ arguments: { password: 'x' } })];
    await createJob(jobCommands, one);
    await createJob(jobCommands, other);
    expect(await commandsWith('other key').argumentsOf(one.id)).toBe('lost');
    const text = 'UPDATE job SET secret_arguments = (SELECT secret_arguments FROM job WHERE id = $1) WHERE id = $2';
    await fixture.db.query({ text }, [one.id, other.id]);
    expect(await jobCommands.argumentsOf(other.id)).toBe('lost');
  });

  it('are erased when the job finishes, and not before', async () => {
    const job = newJob({ arguments: args });
    await createJob(jobCommands, job);
    const running = await jobCommands.transition({ id: job.id, version: 1 }, { state: 'RUNNING' }, AT);
    expect(await jobCommands.argumentsOf(job.id)).toEqual(args);
    await jobCommands.transition(
      { id: job.id, version: running?.job.version ?? 0 },
      { state: 'FINISHED', conclusion: 'SUCCEEDED' },
      AT,
    );
    expect(await jobCommands.argumentsOf(job.id)).toEqual(shown);
  });

  it('let a request be repeated under its key, and not another one', async () => {
    const job = newJob({ arguments: args, requestHash: 'hash of the request' });
    await createJob(jobCommands, job);
    expect(await createJob(jobCommands, job)).toMatchObject({ kind: 'repeat', job: { id: job.id, arguments: shown } });
    expect(await createJob(jobCommands, { ...job, requestHash: 'hash of another' })).toEqual({ kind: 'conflict' });
    expect(await inDatabase(job.id)).not.toContain('hash of the request');
  });

  it('are masked also in rows from before they were sealed', async () => {
    const job = newJob({ arguments: {} });
    await createJob(jobCommands, job);
    await fixture.db.query({ text: 'UPDATE job SET arguments = $2 WHERE id = $1' }, [job.id, JSON.stringify(args)]);
    expect((await fixture.jobs.find(job.id))?.arguments).toEqual(shown);
    expect(await jobCommands.argumentsOf(job.id)).toEqual(args);
  });
});
