/** The schemas of structured results about recurring jobs and desired states. */
import { integer, list, object, text, time, boolean, type OutputSchema } from './output-schemas.js';

export const recurringJobSchema: OutputSchema = object(
  { devices: integer, nextRuns: list(time), next: text },
  {
    preview: boolean,
    untrusted: text,
    now: time,
    online: integer,
    sample: list(text),
    rejected: list(object({ message: text, devices: integer })),
    blastRadius: integer,
    recurringJob: text,
  },
);

const recurringJob = object(
  { id: text, name: text, cron: text, timeZone: text, enabled: boolean, nextRuns: list(time) },
  {
    tool: text,
    arguments: { type: 'object' },
    devices: { type: 'object' },
    pausedReason: text,
    createdBy: text,
    jobs: list(object({ job: text, state: text, createdAt: time }, { conclusion: text })),
  },
);

export const recurringJobsSchema: OutputSchema = object(
  { recurringJobs: list(recurringJob), more: boolean },
  { next: text },
);

export const desiredStateSchema: OutputSchema = object(
  { devices: integer, next: text },
  {
    preview: boolean,
    inSync: integer,
    wouldChange: integer,
    unsupported: integer,
    unknown: integer,
    conflicts: list(object({ id: text, name: text })),
    sample: list(text),
    desiredState: text,
  },
);

const target = object({ state: text, since: time }, { device: text, deviceSays: {}, nextTryAt: time, error: text });

const desiredState = object(
  {
    id: text,
    name: text,
    tool: text,
    arguments: { type: 'object' },
    devices: { type: 'object' },
    mode: text,
    onDrift: text,
    priority: integer,
    enabled: boolean,
    generation: integer,
    byState: { type: 'object', additionalProperties: integer, description: 'Devices by state.' },
  },
  { createdBy: text, pausedReason: text, window: { type: 'object' }, outOfSync: list(target) },
);

export const desiredStatesSchema: OutputSchema = object(
  { desiredStates: list(desiredState), more: boolean },
  { untrusted: text, next: text },
);
