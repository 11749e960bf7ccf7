/** Starts and follows a job: shared by `jobs create`, `jobs follow` and `firmware roll-out`. */
import { expectAccepted, type FlotillaClient, type JobStatusFragment } from '@flotilla/client';
import type { CreateJobInput } from '@flotilla/client/schema';
import { confirm, isConfirmed } from './console/confirm.js';
import { untilInterrupted } from './console/interrupt.js';
import { progressInWords, stateOf, viewJob } from './console/job-progress.js';
import { formatOf, type OutputOptions } from './console/output-format.js';
import { printChange, printThing, say, write } from './console/output.js';
import { previewInWords } from './console/preview-words.js';
import { printable } from './console/printable.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { PreviewJobDocument, type JobRowFragment } from './generated/operations.js';
import { sendOnce } from './lost-answer.js';
import type { JobArguments } from './options/job-options.js';

type RunArguments = OutputOptions & Pick<JobArguments, 'idempotency-key' | 'preview' | 'follow' | 'yes' | 'start-at'>;

export async function runJob(client: FlotillaClient, input: CreateJobInput, args: RunArguments): Promise<ExitCode> {
  if (args.preview === true) return previewJob(client, input, args);
  if (!(await isJobConfirmed(client, input, args))) return exitCodes.refused;
  const job = await sendOnce(
    args['idempotency-key'],
    (idempotencyKey) => client.createJob(input, { idempotencyKey }),
    args['start-at'] === undefined ? {} : { 'start-at': input.startAt },
  );
  if (args.follow === true) return followJob(client, job.id, args);
  await printJob(job, args);
  return exitCodes.done;
}

/** New firmware disrupts every device, so it always needs a confirmation. */
function isJobConfirmed(
  client: FlotillaClient,
  { firmwareImageId, tool }: CreateJobInput,
  args: RunArguments,
): Promise<boolean> {
  if (typeof firmwareImageId === 'string') return confirm('A roll-out restarts devices with other firmware.', args);
  return typeof tool === 'string' ? isConfirmed(client, tool, 'on many devices', args) : Promise.resolve(true);
}

async function previewJob(client: FlotillaClient, input: CreateJobInput, args: OutputOptions): Promise<ExitCode> {
  const all = expectAccepted((await client.request(PreviewJobDocument, { input })).previewJob);
  const { userErrors, warnings, ...preview } = all;
  if (formatOf(args) === 'table' && args.columns === undefined)
    await write(`${previewInWords(all).map(printable).join('\n')}\n`);
  else await printThing({ ...preview, warnings }, args);
  for (const { message } of warnings) say(`Warning: ${printable(message)}`);
  if (preview.missingToolCount > 0 && typeof input.tool === 'string') {
    say(`Devices without the tool end REJECTED, and nothing is sent to them. Leave them out: --has-tool ${input.tool}`);
  }
  const isSound = userErrors.length === 0 && preview.argumentErrors.length === 0;
  return isSound ? exitCodes.done : exitCodes.refused;
}

/** Follows the job to its end, or until Ctrl-C, which does not change the job. */
export async function followJob(
  client: FlotillaClient,
  id: string,
  args: OutputOptions,
  print: (job: JobStatusFragment) => Promise<void> = (job) => printJob(job, args),
): Promise<ExitCode> {
  const view = viewJob();
  const last = await untilInterrupted(async (signal) => {
    let latest: JobStatusFragment | undefined;
    for await (const job of client.followJob(id, { signal })) view.show((latest = job));
    return latest;
  })
    .catch((error: unknown) => {
      say(`The job ${id} exists. Follow it with: flotilla jobs follow ${id}`);
      throw error;
    })
    .finally(() => view.end());
  if (last === 'interrupted' || last === undefined) {
    say(`The job continues. Follow it with: flotilla jobs follow ${id}; cancel it with: flotilla jobs cancel ${id}`);
    return exitCodes.interrupted;
  }
  await print(last);
  if (last.progress.total === 0) {
    // Most often a wrong filter: a script must not take it for done.
    say(withoutDevices(last.conclusion));
    return exitCodes.targetsFailed;
  }
  return last.conclusion === 'SUCCEEDED' ? exitCodes.done : exitCodes.targetsFailed;
}

/** Why a finished job has no devices. */
function withoutDevices(conclusion: JobStatusFragment['conclusion']): string {
  if (conclusion === 'CANCELLED') return 'The job was cancelled before its devices were known. Nothing was sent.';
  if (conclusion === 'DENIED') return 'The job was not approved. Nothing was sent.';
  if (conclusion === 'EXPIRED')
    return 'The time ran out before the job was approved or its devices were known. Nothing was sent.';
  return 'The filter matches no devices. Check it with --preview.';
}

/** The status of a job: in words for people, all fields for programs. */
export async function printJob(
  job: Omit<JobRowFragment, 'createdBy' | 'firmwareImage'> & Readonly<Record<string, unknown>>,
  args: OutputOptions,
): Promise<void> {
  if (args.columns !== undefined) return printChange({ ...job, ...progressInWords(job) }, args);
  if (formatOf(args) !== 'table') return printChange(job, args);
  const { id, name, tool } = job;
  await printChange({ id, name, tool, state: stateOf(job), ...progressInWords(job) }, args);
}
