/** Recurring jobs, by name. Their images are named by SHA-256, and their groups by name. */
import { randomUUID } from 'node:crypto';
import { expectAccepted } from '@flotilla/client';
import type { RecurringJobInput } from '@flotilla/client/schema';
import { UsageError } from '../../exit-codes.js';
import {
  CreateRecurringJobDocument,
  DeleteRecurringJobDocument,
  RecurringJobsDocument,
  UpdateRecurringJobDocument,
} from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { filterWithIds, filterWithNames } from '../filter-references.js';
import { isFields, withoutNull, type Fields, type Kind, type References } from '../kind.js';
import { matches } from '../values.js';
import { allOf } from './all-of.js';
import { rolloutDefaults } from './rollout-defaults.js';

/** What the hub adds to a job. */
const jobDefaults: Fields = {
  arguments: {},
  offline: 'WAIT',
  expiresInSeconds: 86_400,
  maxInFlight: 200,
  maxAttempts: 3,
  priority: 2,
  skipIfSatisfied: false,
};

/** What the hub adds to a health gate, where a job has one. */
const healthDefaults: Fields = { observeSeconds: 600, action: 'PAUSE' };

export const recurringJobs: Kind = {
  kind: 'RecurringJob',
  nameIs: 'name of the recurring job',
  fields: {
    cron: { type: 'string', description: 'Five fields, or a name such as @daily.' },
    timeZone: { type: 'string', description: 'The IANA zone of `cron`.' },
    job: {
      type: 'object',
      description:
        'A CreateJobInput of the API, with `firmwareImage: <SHA-256>` in place of `firmwareImageId`, and ' +
        '`fromEnv: NAME` in place of a secret argument.',
    },
    missed: { enum: ['SKIP', 'RUN_ONCE'] },
    overlap: { enum: ['SKIP', 'CANCEL_PREVIOUS'] },
    until: { type: ['string', 'null'] },
    enabled: { type: 'boolean' },
  },
  required: ['cron', 'timeZone', 'job'],
  defaults: { missed: 'SKIP', overlap: 'SKIP', enabled: true },
  within: { job: { ...jobDefaults, ...rolloutDefaults, health: [healthDefaults] } },
  requireNamed: (fields, references) => void inputOf('', fields, references),
  async read({ client, references }) {
    const jobs = await allOf(
      eachNode(async (page) => (await client.request(RecurringJobsDocument, page)).recurringJobs),
    );
    return jobs.map(({ id, name, revision, isLimited, cron, timeZone, job, missed, overlap, until, enabled }) => ({
      id,
      name,
      revision,
      isLimited,
      fields: withoutNull({ cron, timeZone, job: jobWithNames(job, references), missed, overlap, until, enabled }),
    }));
  },
  async create(name, fields, { client, references }) {
    const variables = { input: inputOf(name, fields, references), idempotencyKey: randomUUID() };
    expectAccepted((await client.request(CreateRecurringJobDocument, variables)).createRecurringJob);
  },
  async update({ id, name, revision }, fields, { client, references }) {
    const variables = { id, input: inputOf(name, fields, references), revision: String(revision) };
    expectAccepted((await client.request(UpdateRecurringJobDocument, variables)).updateRecurringJob);
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(DeleteRecurringJobDocument, { id })).deleteRecurringJob);
  },
};

function jobWithNames(job: unknown, references: References): unknown {
  if (!isFields(job)) return job;
  const { firmwareImageId, devices, ...all } = withoutNull(job);
  const others = Object.fromEntries(
    Object.entries(all).filter(([name, value]) => !matches(jobDefaults[name] ?? null, value, {})),
  );
  const sha256 = [...references.images].find(([, id]) => id === firmwareImageId)?.[0];
  return {
    ...others,
    devices: filterWithNames(devices, references),
    ...(sha256 === undefined ? withoutNull({ firmwareImageId }) : { firmwareImage: sha256 }),
  };
}

function inputOf(name: string, fields: Fields, references: References): RecurringJobInput {
  const { firmwareImage, devices, ...job } = isFields(fields['job']) ? fields['job'] : {};
  const image = typeof firmwareImage === 'string' ? references.images.get(firmwareImage) : undefined;
  if (firmwareImage !== undefined && image === undefined)
    throw new UsageError(
      `There is no image with the SHA-256 ${String(firmwareImage)}. Upload it (flotilla firmware upload), ` +
        'or add it to the file as a FirmwareImage.',
    );
  return {
    ...fields,
    name,
    job: {
      ...job,
      devices: filterWithIds(devices, references),
      ...(image !== undefined && { firmwareImageId: image }),
    },
  } as unknown as RecurringJobInput;
}
