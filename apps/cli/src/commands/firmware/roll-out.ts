/** `flotilla firmware roll-out` and `revert`. */
import { expectAccepted, type FlotillaClient, type JobStatusFragment } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { columnOf, formatOf, type OutputOptions } from '../../console/output-format.js';
import { printChanges, RowPrinter, withKnownColumns } from '../../console/output.js';
import { exitCodes, type ExitCode } from '../../exit-codes.js';
import { RevertJobDocument } from '../../generated/operations.js';
import { sendOnce } from '../../lost-answer.js';
import { jobInput, withJobOptions } from '../../options/job-options.js';
import { followJob, runJob } from '../../run-job.js';
import { hubLeaf, leaf } from '../command.js';
import { jobColumns } from '../jobs/job-columns.js';
import { textOption } from '../../options/shared-options.js';

export const rollOutCommand = leaf({
  usage: 'roll-out <image>',
  values: ['image'],
  summary: 'Roll out a published image with a job',
  examples: [
    'firmware roll-out 01990000-0000-7000-8000-000000000002 --model esp-box-3 --waves 5,25,100 --soak 10m --yes',
  ],
  options: (args) =>
    withJobOptions(args).positional('image', { type: 'string', demandOption: true, describe: 'Id of the image' }),
  run: (args) => {
    const input = jobInput(args, { firmwareImageId: args.image });
    return withClient(args, (client) => runJob(client, input, args));
  },
});

export const revertCommand = hubLeaf({
  usage: 'revert <job>',
  values: ['job'],
  summary: 'Return the devices of a roll-out to the versions that they had before',
  examples: ['firmware revert 01990000-0000-7000-8000-000000000001 --yes'],
  notes: 'Creates one job for each former version, and prints them. Devices that run another image now are left out.',
  options: (args) =>
    args
      .positional('job', { type: 'string', demandOption: true, describe: 'Id of the job of the roll-out' })
      .option('idempotency-key', textOption('A repeated command with the same key finds the first jobs'))
      .option('follow', { type: 'boolean', describe: 'Follow the jobs one by one; Ctrl-C leaves them running' }),
  question: () => 'A revert restarts devices with their former firmware.',
  run: async (args, client) => {
    const { revertJob } = await sendOnce(args.idempotencyKey, (idempotencyKey) =>
      client.request(RevertJobDocument, { id: args.job, idempotencyKey }),
    );
    const { job, others } = expectAccepted(revertJob);
    const jobs = [...(job === null ? [] : [job]), ...(others ?? [])];
    if (args.follow !== true) return printChanges(jobs, jobColumns, args);
    return followAll(client, jobs, args);
  },
});

/** Follows one job after another; for programs their ends are one list. */
export async function followAll(
  client: FlotillaClient,
  jobs: readonly { readonly id: string }[],
  args: OutputOptions,
): Promise<ExitCode> {
  const isTable = formatOf(args) === 'table';
  const columns = (['id', 'state', 'conclusion', 'name'] as const).map(columnOf<JobStatusFragment>);
  let ends: RowPrinter<JobStatusFragment> | undefined;
  // The jobs are there already: a wrong `--columns` must not end the command.
  const printerOf = (sample?: JobStatusFragment) =>
    (ends ??= new RowPrinter(columns, withKnownColumns(columns, args, sample)));
  let code: ExitCode = exitCodes.done;
  for (const { id } of jobs) {
    const ended = await followJob(client, id, args, isTable ? undefined : (job) => printerOf(job).print(job));
    if (ended !== exitCodes.done) code = ended;
    if (ended === exitCodes.interrupted) break;
  }
  if (!isTable) await printerOf().end();
  return code;
}
