/** `flotilla jobs create`, `rerun` and `follow`. */
import { expectAccepted } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { confirm, yesOption } from '../../console/confirm.js';
import { printable } from '../../console/printable.js';
import { exitCodes } from '../../exit-codes.js';
import { found } from '../../found.js';
import { JobDetailsDocument, RerunJobDocument } from '../../generated/operations.js';
import { sendOnce } from '../../lost-answer.js';
import { jobInput, withJobOptions } from '../../options/job-options.js';
import { followJob, printJob, runJob } from '../../run-job.js';
import { argumentsForFleet, argumentsOption, givenArguments } from '../../tools/tool-arguments.js';
import { hubLeaf, leaf } from '../command.js';
import { textOption, withId } from '../../options/shared-options.js';

export const createCommand = leaf({
  usage: 'create <tool> [arguments..]',
  values: ['tool'],
  summary: 'Create a job that calls a tool on many devices',
  examples: [
    'jobs create self.audio_speaker.set_volume volume=30 --tag lobby --waves 10,100',
    'jobs create self.audio_speaker.set_volume \'{"volume":30}\' --all --preview',
  ],
  options: (args) =>
    withJobOptions(args)
      .positional('tool', { type: 'string', demandOption: true })
      .positional('arguments', argumentsOption),
  run: async (args) => {
    const input = jobInput(args, { tool: args.tool });
    const given = await givenArguments(args.arguments);
    return withClient(args, async (client) =>
      runJob(client, { ...input, arguments: await argumentsForFleet(client, args.tool, given) }, args),
    );
  },
});

/** Outcomes after which another attempt can have another result. */
const repeatable = ['FAILED', 'UNKNOWN', 'NOT_SENT', 'VERIFY_FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'] as const;

export const rerunCommand = leaf({
  usage: 'rerun <id> [arguments..]',
  values: ['job'],
  summary: 'Run a finished job again, over its devices with the given outcomes',
  examples: ['jobs rerun 01990000-0000-7000-8000-000000000001 --outcome FAILED --outcome EXPIRED --yes'],
  notes: 'Arguments replace those of the job. They are required if the old ones had secrets.',
  options: (args) =>
    withId(args, 'Id of the finished job')
      .positional('arguments', argumentsOption)
      .option('outcome', {
        choices: ['SUCCEEDED', 'NO_CHANGE', 'REJECTED', ...repeatable] as const,
        array: true,
        nargs: 1,
        demandOption: true,
        describe: 'Devices with this outcome; repeatable',
      })
      .option('idempotency-key', textOption('A repeated command with the same key finds the first job'))
      .option('follow', { type: 'boolean', describe: 'Follow the new job' })
      .options(yesOption),
  run: async (args) => {
    const given = await givenArguments(args.arguments);
    return withClient(args, async (client) => {
      const { id, outcome: outcomes } = args;
      const job = found((await client.request(JobDetailsDocument, { id })).job, 'Job', id);
      if (job.disruptive && !(await confirm(`${printable(job.tool)} disrupts devices.`, args)))
        return exitCodes.refused;
      const replaced = given.kind === 'none' ? {} : { arguments: await argumentsForFleet(client, job.tool, given) };
      const { rerunJob } = await sendOnce(args.idempotencyKey, (idempotencyKey) =>
        client.request(RerunJobDocument, { id, outcomes, idempotencyKey, ...replaced }),
      );
      const created = found(expectAccepted(rerunJob).job, 'Job', id);
      if (args.follow === true) return followJob(client, created.id, args);
      await printJob(created, args);
      return exitCodes.done;
    });
  },
});

export const followCommand = hubLeaf({
  usage: 'follow <id>',
  values: ['job'],
  summary: 'Follow a job until it finishes',
  examples: ['jobs follow 01990000-0000-7000-8000-000000000001'],
  options: (args) => withId(args, 'Id of the job'),
  run: async (args, client) => {
    // A query fails at once if the hub or the job is missing; a subscription retries.
    found((await client.request(JobDetailsDocument, { id: args.id })).job, 'Job', args.id);
    return followJob(client, args.id, args);
  },
});
