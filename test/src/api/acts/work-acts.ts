/** An act for each mutation of jobs, recurring jobs, desired states and recordings. */
import { eventually } from '../../eventually.js';
import type { HubProcess } from '../../hub/hub-process.js';
import { finished } from '../../jobs/job-api.js';
import { ask } from '../graphql-client.js';
import { AWAY, screen, second, volume, type ActStage, type Acts } from './act-stage.js';
import { by, type Act } from './mutation-act.js';

const job = (value: Readonly<Record<string, unknown>>, name: string): Act => ({
  args: '(input: $input, idempotencyKey: $key)',
  variables: { 'input: CreateJobInput!': value, 'key: String!': name },
  select: 'job { id }',
  keep: [name, 'job.id'],
});
const yearlyJob = { ...volume, devices: { ids: [AWAY] } };
const yearly = (name: string) => ({ name, cron: '@yearly', timeZone: 'UTC', job: yearlyJob });
const recurring = (name: string): Act => ({
  args: '(input: $input, idempotencyKey: $key)',
  variables: { 'input: RecurringJobInput!': yearly(name), 'key: String!': name },
  select: 'recurringJob { id }',
  keep: ['recurring', 'recurringJob.id'],
});
const louder = (name: string) => ({ ...volume, name, devices: { ids: [AWAY] } });
const desired = (name: string): Act => ({
  args: '(input: $input, idempotencyKey: $key)',
  variables: { 'input: DesiredStateInput!': louder(name), 'key: String!': name },
  select: 'desiredState { id }',
  keep: ['desired', 'desiredState.id'],
});

/** Waits until the job has come so far. */
async function reached(hub: HubProcess, id: string, wanted: string): Promise<void> {
  const query = 'query ($id: ID!) { job(id: $id) { state } }';
  await eventually(
    async () => (await ask<{ job: { state: string } }>(hub, query, { id })).job.state,
    (now) => now === wanted,
  );
}

export function workActs({ hub, known }: ActStage): Acts {
  const of = (name: string) => () => known[name] ?? '';
  return {
    createJob: [
      () => job({ tool: 'self.reboot', devices: { ids: [AWAY] } }, 'restart'),
      () => job({ tool: 'self.reboot', devices: { ids: [AWAY] } }, 'denied'),
      () => job({ ...volume, devices: { ids: [AWAY] } }, 'waiting'),
      () => job({ ...volume, devices: { ids: [screen, second] }, waves: [{ count: 1, gate: 'MANUAL' }] }, 'waves'),
      () => job({ ...volume, devices: { ids: [second] } }, 'done'),
    ],
    createRecurringJob: [() => recurring('audited')],
    updateRecurringJob: [
      () => ({
        args: '(id: $id, input: $input)',
        variables: { 'id: ID!': known['recurring'], 'input: RecurringJobInput!': yearly('audited too') },
      }),
    ],
    runRecurringJob: [by('id', of('recurring'))],
    deleteRecurringJob: [by('id', of('recurring'))],
    createDesiredState: [() => desired('desired')],
    updateDesiredState: [
      () => ({
        args: '(id: $id, expectedGeneration: 1, input: $input)',
        variables: { 'id: ID!': known['desired'], 'input: DesiredStateInput!': louder('desired too') },
      }),
    ],
    setDesiredStateEnabled: [by('enabled: false, id', of('desired'))],
    deleteDesiredState: [by('id', of('desired'))],
    setRecordingRule: [
      () => ({
        args: '(input: $input)',
        variables: { 'input: RecordingRuleInput!': { devices: { all: true }, path: 'samples:audited' } },
        select: 'recordingRule { id }',
        keep: ['recordingRule', 'recordingRule.id'],
      }),
    ],
    deleteRecordingRule: [by('id', of('recordingRule'))],
    approveJob: [by('id', of('restart'), { key: of('person') })],
    denyJob: [
      () => ({
        args: '(id: $id, reason: "not now")',
        variables: { 'id: ID!': known['denied'] },
        key: of('person'),
      }),
    ],
    pauseJob: [
      async () => {
        await reached(hub, of('waiting')(), 'RUNNING');
        return by('id', of('waiting'))();
      },
    ],
    resumeJob: [by('id', of('waiting'))],
    openNextWave: [
      async () => {
        await reached(hub, of('waves')(), 'PAUSED');
        return by('id', of('waves'))();
      },
    ],
    cancelJob: [by('id', of('waiting'))],
    rerunJob: [
      async () => {
        await finished(hub, known['done'] ?? '');
        return {
          args: '(id: $id, outcomes: [SUCCEEDED], idempotencyKey: "again")',
          variables: { 'id: ID!': known['done'] },
        };
      },
    ],
  };
}
