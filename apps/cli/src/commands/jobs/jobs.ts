/** `flotilla jobs`: the group, and what only reads. */
import { progressInWords, stateOf } from '../../console/job-progress.js';
import { formatOf, type ColumnLike } from '../../console/output-format.js';
import { printRows, printThing, say, write } from '../../console/output.js';
import { found } from '../../found.js';
import { JobDetailsDocument, JobsDocument, type JobDetailsQuery } from '../../generated/operations.js';
import { jsonLines } from '../../json-input.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { textOption, withId } from '../../options/shared-options.js';
import { jobColumns } from './job-columns.js';
import { createCommand, followCommand, rerunCommand } from './start.js';
import { approveCommand, cancelCommand, denyCommand, openWaveCommand, pauseCommand, resumeCommand } from './steer.js';

type Wave = NonNullable<JobDetailsQuery['job']>['waves'][number];

const jobStates = [
  'AWAITING_APPROVAL',
  'SCHEDULED',
  'PREPARING',
  'RUNNING',
  'PAUSED',
  'CANCELLING',
  'FINISHED',
] as const;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List jobs, latest first',
  examples: ['jobs', 'jobs list --state RUNNING --state PAUSED --watch'],
  options: (args) =>
    withListOptions(args, 50)
      .option('state', { choices: jobStates, array: true, nargs: 1, describe: 'Only jobs in this state; repeatable' })
      .option('tool', textOption('Only jobs that call this tool'))
      .option('search', textOption('Part of the name')),
  run: (args, client) => {
    const { state, tool, search } = args;
    const filter = { ...(state && { states: state }), ...(tool && { tool }), ...(search && { search }) };
    return printList(
      () => eachNode(async (page) => (await client.request(JobsDocument, { filter, ...page })).jobs),
      jobColumns,
      args,
    );
  },
});

const showCommand = hubLeaf({
  usage: 'show <id>',
  values: ['job'],
  summary: 'Show one job with its waves, and its failures in groups',
  examples: ['jobs show 01990000-0000-7000-8000-000000000001'],
  options: (args) => withId(args, 'Id of the job'),
  run: async (args, client) => {
    const job = found((await client.request(JobDetailsDocument, { id: args.id })).job, 'Job', args.id);
    if (args.columns !== undefined) return printThing({ ...job, ...progressInWords(job) }, args);
    if (formatOf(args) !== 'table') return printThing(job, args);
    const { id, name, waves, failureGroups, ...rest } = job;
    await printThing({ id, name, state: stateOf(job), ...progressInWords(job), ...withoutWords(rest) }, args);
    if (waves.length > 0) await printRows(waves, waveColumns, {});
    if (failureGroups.length > 0)
      await printRows(failureGroups, [{ key: 'count', head: 'DEVICES' }, 'outcome', 'code', 'message'], {});
    if (job.pauseReason === 'WAVE_GATE')
      say(`The job waits at the gate of wave ${job.currentWave}. To go on: flotilla jobs open-wave ${id}`);
  },
});

const waveColumns: readonly ColumnLike<Wave>[] = [
  { key: 'number', head: 'WAVE' },
  { key: 'decided', of: ({ decided, size }) => `${decided}/${size}` },
  { key: 'succeeded', of: (wave) => `${wave.succeeded} (${shareOf(wave)}needs ${percentOf(wave.successThreshold)})` },
  { key: 'soak', of: ({ soakSeconds }) => `${soakSeconds}s` },
  'gate',
  'openedAt',
  'closedAt',
];

/** Devices without a change do not count, so it is not `succeeded` of `decided`. */
function shareOf({ successShare }: Wave): string {
  return successShare === null ? '' : `${percentOf(successShare)}, `;
}

/** Rounded down: 94.9 % is not 95 %. */
function percentOf(share: number): string {
  return `${Math.floor(share * 1_000 + 1e-9) / 10}%`;
}

/** The fields besides those that are said in words. */
function withoutWords(job: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(job).filter(([name]) => !['state', 'conclusion', 'pauseReason', 'progress'].includes(name)),
  );
}

const resultsCommand = hubLeaf({
  usage: 'results <id>',
  values: ['job'],
  summary: 'Print the outcome of every device, as CSV if you choose no other format',
  examples: ['jobs results 01990000-0000-7000-8000-000000000001 --output jsonl'],
  options: (args) => withId(args, 'Id of the job'),
  run: async (args, client) => {
    const isCsv = (args.output === undefined && args.json !== true) || args.output === 'csv';
    if (isCsv && args.columns === undefined) {
      for await (const part of client.jobResults(args.id, 'csv')) await write(part);
      return;
    }
    const rows = jsonLines(client.jobResults(args.id, 'jsonl'));
    await printRows(rows, resultColumns, { ...args, ...(isCsv ? { output: 'csv' } : {}) });
  },
});

const resultColumns = ['deviceId', 'outcome', 'state', 'wave', 'attempts', 'decidedAt'].map((key) => ({ key }));

export const jobsCommand = group('jobs', 'Create, follow, steer and list jobs', [
  listCommand,
  showCommand,
  createCommand,
  followCommand,
  resultsCommand,
  pauseCommand,
  resumeCommand,
  openWaveCommand,
  approveCommand,
  denyCommand,
  rerunCommand,
  cancelCommand,
]);
