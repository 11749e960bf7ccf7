/** `flotilla recurring`: schedules that create jobs. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { CreateJobInput, RecurringJobInput } from '@flotilla/client/schema';
import { withClient } from '../../connection.js';
import { confirm, isConfirmed, yesOption } from '../../console/confirm.js';
import { formatOf, type ColumnLike, type OutputOptions } from '../../console/output-format.js';
import { printChange, printRows, printThing, write } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { exitCodes, UsageError } from '../../exit-codes.js';
import { found } from '../../found.js';
import {
  CreateRecurringJobDocument,
  DeleteRecurringJobDocument,
  RecurringJobDetailsDocument,
  RecurringJobsDocument,
  RunRecurringJobDocument,
  UpdateRecurringJobDocument,
  type RecurringRowFragment,
} from '../../generated/operations.js';
import { sendOnce } from '../../lost-answer.js';
import { jobInput, withJobOptions } from '../../options/job-options.js';
import { numberOption } from '../../options/number-option.js';
import { given, textOption, withId } from '../../options/shared-options.js';
import { futureTime, removableTime } from '../../options/time-option.js';
import { eachNode } from '../../pages.js';
import { followJob, printJob, runJob } from '../../run-job.js';
import { argumentsForFleet, argumentsOption, givenArguments } from '../../tools/tool-arguments.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { jobColumns } from './job-columns.js';

const anId = '01990000-0000-7000-8000-00000000000c';

const columns: readonly ColumnLike<RecurringRowFragment>[] = [
  'id',
  'name',
  'cron',
  { key: 'timeZone', head: 'ZONE' },
  { key: 'enabled', of: ({ enabled, pausedReason }) => (enabled ? 'yes' : (pausedReason ?? 'no')) },
  { key: 'nextRun', of: ({ nextRuns }) => nextRuns[0] },
  { key: 'lastRun', of: ({ lastJob }) => lastJob?.createdAt },
  { key: 'result', of: ({ lastJob }) => lastJob?.conclusion ?? lastJob?.state },
];

const lastStart = 'No run starts after this time, such as 30d or 2026-12-31';

const scheduleOptions = {
  cron: textOption('Minute, hour, day, month and weekday, such as "0 22 * * MON-FRI", or @daily'),
  'time-zone': textOption('IANA zone of the times; the zone of this computer if it is left out'),
  missed: { choices: ['SKIP', 'RUN_ONCE'], describe: 'For runs that were due while the hub was down' },
  overlap: { choices: ['SKIP', 'CANCEL_PREVIOUS'], describe: 'For runs that are due while the former one goes on' },
  until: futureTime('until', lastStart),
} as const;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List recurring jobs with their next and last run',
  examples: ['recurring'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => eachNode(async (page) => (await client.request(RecurringJobsDocument, page)).recurringJobs),
      columns,
      args,
    ),
});

const showCommand = hubLeaf({
  usage: 'show <id>',
  summary: 'Show a recurring job, its next runs and its latest jobs',
  examples: [`recurring show ${anId} --runs 10`],
  options: (args) =>
    withId(args, 'Id of the recurring job').option(
      'runs',
      numberOption('runs', 'Next runs to show', { min: 1, max: 100 }),
    ),
  run: async (args, client) => {
    const { times, jobs, ...job } = await detailsOf(client, args.id, args.runs ?? 5);
    if (formatOf(args) !== 'table' || args.columns !== undefined)
      return printThing({ ...job, nextRuns: times, jobs: jobs.nodes }, args);
    await printThing({ ...job, nextRuns: times.join(', ') || null, lastJob: job.lastJob?.id ?? null }, args);
    if (jobs.nodes.length > 0) await printRows(jobs.nodes, jobColumns, {});
  },
});

const createCommand = leaf({
  usage: 'create <tool> [arguments..]',
  values: ['tool'],
  summary: 'Create a job again and again, by a schedule',
  examples: [
    'recurring create self.audio_speaker.set_volume volume=10 --name "Quiet nights" --cron "0 22 * * *" ' +
      '--time-zone Europe/Berlin --tag shop',
    'recurring create self.reboot --name "Restart on Sundays" --cron "0 4 * * SUN" --all --preview',
  ],
  notes: 'The devices are selected again at each run. --preview shows what a run would do now.',
  options: (args) =>
    withJobOptions(args)
      .positional('tool', { type: 'string', demandOption: true })
      .positional('arguments', argumentsOption)
      .options(scheduleOptions),
  run: async (args) => {
    const { cron, name } = args;
    if (name === undefined) throw new UsageError('A recurring job needs a name. Add --name.');
    if (cron === undefined) throw new UsageError('A recurring job needs its times. Add --cron, such as "0 22 * * *".');
    if (args.follow === true) throw new UsageError('A schedule has no end. Follow one of its jobs with jobs follow.');
    const typed = await givenArguments(args.arguments);
    return withClient(args, async (client) => {
      const rules = { ...jobInput(args, { tool: args.tool }), name: null };
      const job = { ...rules, arguments: await argumentsForFleet(client, args.tool, typed) };
      if (args.preview === true) return runJob(client, job, args);
      if (!(await isConfirmed(client, args.tool, 'at each run', args))) return exitCodes.refused;
      const input = { name, job, ...scheduleOf(args), cron, timeZone: args['time-zone'] ?? localZone() };
      const { createRecurringJob } = await sendOnce(
        args['idempotency-key'],
        (idempotencyKey) => client.request(CreateRecurringJobDocument, { input, idempotencyKey }),
        { until: args.until },
      );
      await printRecurring(expectAccepted(createRecurringJob).recurringJob, args);
      return exitCodes.done;
    });
  },
});

const editCommand = hubLeaf({
  usage: 'edit <id>',
  summary: 'Change the name or the times of a recurring job',
  examples: [`recurring edit ${anId} --cron "30 21 * * *" --missed RUN_ONCE`, `recurring edit ${anId} --until ""`],
  notes: 'Later runs have the rights of the key that edits it.',
  options: (args) =>
    withId(args, 'Id of the recurring job')
      .option('name', textOption('New name'))
      .options({ ...scheduleOptions, until: removableTime('until', lastStart) }),
  run: (args, client) =>
    change(client, args, {
      ...given({ name: args.name, cron: args.cron, timeZone: args['time-zone'] }),
      ...scheduleOf(args),
    }),
});

const enableCommand = hubLeaf({
  usage: 'enable <id>',
  summary: 'Start the runs of a recurring job again',
  examples: [`recurring enable ${anId}`],
  options: (args) => withId(args, 'Id of the recurring job'),
  run: (args, client) => change(client, args, { enabled: true }),
});

const disableCommand = hubLeaf({
  usage: 'disable <id>',
  summary: 'Start no more runs of a recurring job; a run under way goes on',
  examples: [`recurring disable ${anId}`],
  options: (args) => withId(args, 'Id of the recurring job'),
  run: (args, client) => change(client, args, { enabled: false }),
});

const runCommand = hubLeaf({
  usage: 'run <id>',
  summary: 'Run a recurring job now, besides its schedule',
  examples: [`recurring run ${anId} --yes`],
  options: (args) =>
    withId(args, 'Id of the recurring job')
      .option('follow', { type: 'boolean', describe: 'Follow the job; Ctrl-C leaves it running' })
      .options(yesOption),
  run: async (args, client) => {
    const { name } = await detailsOf(client, args.id);
    if (!(await confirm(`"${printable(name)}" will run now.`, args))) return exitCodes.refused;
    const { runRecurringJob } = await client.request(RunRecurringJobDocument, { id: args.id });
    const job = found(expectAccepted(runRecurringJob).job, 'Recurring job', args.id);
    if (args.follow === true) return followJob(client, job.id, args);
    await printJob(job, args);
    return exitCodes.done;
  },
});

const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  summary: 'Delete a recurring job; the jobs that it created stay',
  examples: [`recurring delete ${anId} --yes`],
  options: (args) => withId(args, 'Id of the recurring job'),
  question: (args) => `The recurring job ${args.id} will be deleted; its jobs stay.`,
  run: async (args, client) => {
    const { deleteRecurringJob } = await client.request(DeleteRecurringJobDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteRecurringJob).deletedId }, args);
  },
});

/** Sends the whole input again, as the API expects it, with these changes. */
async function change(
  client: FlotillaClient,
  args: OutputOptions & { readonly id: string },
  changes: Partial<RecurringJobInput>,
): Promise<void> {
  const { revision, ...read } = await detailsOf(client, args.id);
  const { name, cron, timeZone, job, missed, overlap, until, enabled } = read;
  // The API returns the job as the shape of its input.
  const input = { name, cron, timeZone, job: job as CreateJobInput, missed, overlap, until, enabled, ...changes };
  const variables = { id: args.id, input, revision };
  const { updateRecurringJob } = await client.request(UpdateRecurringJobDocument, variables);
  await printRecurring(expectAccepted(updateRecurringJob).recurringJob, args);
}

async function detailsOf(client: FlotillaClient, id: string, runs = 1) {
  return found((await client.request(RecurringJobDetailsDocument, { id, runs })).recurringJob, 'Recurring job', id);
}

function scheduleOf({
  missed,
  overlap,
  until,
}: {
  readonly missed?: 'SKIP' | 'RUN_ONCE' | undefined;
  readonly overlap?: 'SKIP' | 'CANCEL_PREVIOUS' | undefined;
  readonly until?: string | null | undefined;
}) {
  return given({ missed, overlap, until });
}

function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

async function printRecurring(job: RecurringRowFragment | null | undefined, args: OutputOptions): Promise<void> {
  if (job === null || job === undefined) return printChange({}, args);
  const { id, name, cron, timeZone, enabled, nextRuns } = job;
  const nextRun = nextRuns[0] ?? null;
  if (args.columns !== undefined) return printChange({ ...job, nextRun }, args);
  if (formatOf(args) !== 'table') return printChange({ ...job }, args);
  await printChange({ id, name, cron, timeZone, enabled, nextRun }, args);
  if (enabled && nextRuns.length === 0) await write('No further run: the schedule has ended.\n');
}

export const recurringCommand = group('recurring', 'Create and change jobs that run by a schedule', [
  listCommand,
  showCommand,
  createCommand,
  editCommand,
  enableCommand,
  disableCommand,
  runCommand,
  deleteCommand,
]);
