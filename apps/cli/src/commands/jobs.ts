/** `flotilla jobs`: create, follow, cancel, list, results. */
import type { Argv } from 'yargs';
import { expectAccepted, FlotillaError } from '@flotilla/client';
import { withClient } from '../connection.js';
import { decidedOf, stateOf, troublesOf } from '../console/job-progress.js';
import { printRows, printThing, write } from '../console/output.js';
import { CancelJobDocument, JobDocument, JobsDocument } from '../generated/operations.js';
import { jobInput, withJobOptions } from '../job-options.js';
import { toolArguments } from '../json-input.js';
import { eachNode, upTo } from '../pages.js';
import { followJob, runJob } from '../run-job.js';
import { command, limitOption, type GlobalArguments } from './command.js';

export function jobsCommand(program: Argv<GlobalArguments>) {
  return program.command('jobs', 'Create, follow, cancel and list jobs', (jobs) =>
    listJobs(cancelJob(resultsOf(createJob(jobs)))).command(
      'follow <id>',
      'Follow a job until it finishes',
      (follow) => follow.positional('id', { type: 'string', demandOption: true }),
      command((args) =>
        withClient(args, async (client) => {
          // A query fails at once if the hub or the job is missing; a subscription retries.
          const { job } = await client.request(JobDocument, { id: args.id });
          if (job === null) throw new FlotillaError('NOT_FOUND', `Job not found: "${args.id}".`);
          return followJob(client, args.id, args);
        }),
      ),
    ),
  );
}

function createJob(jobs: Argv<GlobalArguments>) {
  return jobs.command(
    'create <tool> [arguments]',
    'Create a job that calls a tool on many devices',
    (create) =>
      withJobOptions(create)
        .positional('tool', { type: 'string', demandOption: true })
        .positional('arguments', { type: 'string', describe: 'JSON object, or - for standard input' })
        .example('$0 jobs create self.audio_speaker.set_volume \'{"volume":30}\' --tag lobby --follow', ''),
    command(async (args) => {
      const input = jobInput(args, { tool: args.tool, arguments: await toolArguments(args.arguments) });
      return withClient(args, (client) => runJob(client, input, args));
    }),
  );
}

function cancelJob(jobs: Argv<GlobalArguments>) {
  return jobs.command(
    'cancel <id>',
    'Cancel a job; calls in flight still finish',
    (cancel) =>
      cancel
        .positional('id', { type: 'string', demandOption: true })
        .option('force', { type: 'boolean', default: false, describe: 'Do not wait for calls in flight' }),
    command((args) =>
      withClient(args, async (client) => {
        const { job } = expectAccepted(
          (await client.request(CancelJobDocument, { id: args.id, force: args.force })).cancelJob,
        );
        await printThing({ ...job }, args);
      }),
    ),
  );
}

function listJobs(jobs: Argv<GlobalArguments>) {
  return jobs.command(
    ['list', '$0'],
    'List jobs, latest first',
    (list) => list.option('limit', limitOption(50)),
    command((args) =>
      withClient(args, async (client) => {
        const found = eachNode(async (page) => (await client.request(JobsDocument, page)).jobs);
        await printRows(
          upTo(args.limit, found),
          [
            { head: 'ID', of: ({ id }) => id },
            { head: 'STATE', of: stateOf },
            { head: 'DECIDED', of: (job) => `${decidedOf(job)}/${job.progress.total}` },
            { head: 'TROUBLES', of: troublesOf },
            { head: 'TOOL', of: ({ tool }) => tool },
            { head: 'NAME', of: ({ name }) => name },
            { head: 'BY', of: ({ createdBy }) => createdBy },
            { head: 'CREATED', of: ({ createdAt }) => createdAt },
          ],
          args,
        );
      }),
    ),
  );
}

function resultsOf(jobs: Argv<GlobalArguments>) {
  return jobs.command(
    'results <id>',
    'Print the outcome of every device, as CSV or with --json as JSON lines',
    (results) => results.positional('id', { type: 'string', demandOption: true }),
    command((args) =>
      withClient(args, async (client) => {
        for await (const part of client.jobResults(args.id, args.json === true ? 'jsonl' : 'csv')) await write(part);
      }),
    ),
  );
}
