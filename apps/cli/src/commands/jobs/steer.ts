/** `flotilla jobs pause` and the like: what changes a job. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import { found } from '../../found.js';
import {
  ApproveJobDocument,
  CancelJobDocument,
  DenyJobDocument,
  OpenNextWaveDocument,
  PauseJobDocument,
  ResumeJobDocument,
  type JobRowFragment,
} from '../../generated/operations.js';
import { printJob } from '../../run-job.js';
import { hubLeaf } from '../command.js';
import { withId } from '../../options/shared-options.js';

type JobPayload = Parameters<typeof expectAccepted>[0] & { readonly job: JobRowFragment | null };

/** A command with an id and nothing else. */
function steer(name: string, summary: string, send: (client: FlotillaClient, id: string) => Promise<JobPayload>) {
  return hubLeaf({
    usage: `${name} <id>`,
    values: ['job'],
    summary,
    examples: [`jobs ${name} 01990000-0000-7000-8000-000000000001`],
    options: (args) => withId(args, 'Id of the job'),
    run: async (args, client) => {
      const { job } = expectAccepted(await send(client, args.id));
      await printJob(found(job, 'Job', args.id), args);
    },
  });
}

export const pauseCommand = steer(
  'pause',
  'Pause a job; calls in flight still finish',
  async (client, id) => (await client.request(PauseJobDocument, { id })).pauseJob,
);

export const resumeCommand = steer(
  'resume',
  'Continue a paused job',
  async (client, id) => (await client.request(ResumeJobDocument, { id })).resumeJob,
);

export const openWaveCommand = steer(
  'open-wave',
  'Open the next wave of a job that waits at a gate',
  async (client, id) => (await client.request(OpenNextWaveDocument, { id })).openNextWave,
);

export const approveCommand = steer(
  'approve',
  'Approve a job that another person created',
  async (client, id) => (await client.request(ApproveJobDocument, { id })).approveJob,
);

export const denyCommand = hubLeaf({
  usage: 'deny <id> <reason>',
  values: ['job'],
  summary: 'Deny a job that waits for approval',
  examples: ['jobs deny 01990000-0000-7000-8000-000000000001 "The shop is open"'],
  options: (args) =>
    withId(args, 'Id of the job').positional('reason', {
      type: 'string',
      demandOption: true,
      describe: 'What the person who created it reads',
    }),
  run: async (args, client) => {
    const { denyJob } = await client.request(DenyJobDocument, { id: args.id, reason: args.reason });
    await printJob(found(expectAccepted(denyJob).job, 'Job', args.id), args);
  },
});

export const cancelCommand = hubLeaf({
  usage: 'cancel <id>',
  values: ['job'],
  summary: 'Cancel a job; calls in flight still finish',
  examples: ['jobs cancel 01990000-0000-7000-8000-000000000001'],
  options: (args) =>
    withId(args, 'Id of the job').option('force', {
      type: 'boolean',
      default: false,
      describe: 'Do not wait for calls in flight; their outcome is UNKNOWN',
    }),
  run: async (args, client) => {
    const { cancelJob } = await client.request(CancelJobDocument, { id: args.id, force: args.force });
    await printJob(found(expectAccepted(cancelJob).job, 'Job', args.id), args);
  },
});
