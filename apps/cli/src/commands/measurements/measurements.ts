/** `flotilla measurements`: what devices reported over time, and the rules about it. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import { withClient } from '../../connection.js';
import type { ColumnLike } from '../../console/output-format.js';
import { printRows, printChange } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import { found } from '../../found.js';
import {
  DeleteRecordingRuleDocument,
  DeviceMeasurementsDocument,
  DevicePathsDocument,
  FirmwareHealthDocument,
  FleetMeasurementsDocument,
  RecordingRulesDocument,
  SetRecordingRuleDocument,
  type FirmwareHealthQuery,
  type RecordingRuleRowFragment,
} from '../../generated/operations.js';
import { deviceFilter, deviceFilterOptions, requiredDeviceFilter, withDevices } from '../../options/device-filter.js';
import { durationOption } from '../../options/duration-option.js';
import { numberOption } from '../../options/number-option.js';
import { listOption, textOption, withId } from '../../options/shared-options.js';
import { timeOf, timeOption } from '../../options/time-option.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';

const aDevice = '02:00:00:00:00:01';
const aPath = 'self.get_device_status:battery.level';
const anId = '01990000-0000-7000-8000-00000000000d';

const periodOptions = {
  since: timeOption('since', 'Start of the period, such as 24h or 30d; 24h if it is left out'),
  until: timeOption('until', 'End of the period; now if it is left out'),
  points: numberOption('points', 'Maximum number of intervals', { min: 1, max: 1_000 }),
} as const;

interface Period {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly points?: number | undefined;
}

function periodOf({ since, until, points }: Period) {
  return { since: since ?? timeOf('since', '24h', Date.now()), until: until ?? null, points: points ?? 200 };
}

const showCommand = hubLeaf({
  usage: 'show <id>',
  summary: 'Show what a device reported over time',
  examples: [
    `measurements show ${aDevice}`,
    `measurements show ${aDevice} --path ${aPath} --since 30d --output csv > battery.csv`,
  ],
  notes: 'Each row is one interval. Without --path all paths of the device are shown.',
  options: (args) =>
    withId(args, 'Id of the device').option('path', listOption('Only this path')).options(periodOptions),
  run: async (args, client) => {
    const { id } = args;
    const device = found((await client.request(DevicePathsDocument, { id })).device, 'Device', id);
    const paths = args.path ?? device.measurementPaths;
    const rows = measured(client, { id, ...periodOf(args) }, paths);
    await printRows(rows, ['at', 'path', 'min', 'mean', 'max'], args);
  },
});

/** Paths that the hub accepts in one request. */
const pathsMax = 50;

async function* measured(
  client: FlotillaClient,
  period: { readonly id: string } & ReturnType<typeof periodOf>,
  paths: readonly string[],
) {
  for (let start = 0; start < paths.length; start += pathsMax) {
    const variables = { ...period, paths: paths.slice(start, start + pathsMax) };
    const { device } = await client.request(DeviceMeasurementsDocument, variables);
    for (const { path, points } of device?.measurements ?? []) yield* points.map((point) => ({ path, ...point }));
  }
}

const fleetCommand = hubLeaf({
  usage: 'fleet <path>',
  summary: 'Show one path over many devices: mean, range and 95th percentile',
  examples: [`measurements fleet ${aPath} --tag shop --since 7d`, `measurements fleet ${aPath} --output csv`],
  options: (args) =>
    args
      .positional('path', { type: 'string', demandOption: true, describe: 'The path, without *' })
      .options(deviceFilterOptions)
      .options(periodOptions),
  run: async (args, client) => {
    const variables = { filter: deviceFilter(args), path: args.path, ...periodOf(args) };
    const { fleetMeasurements } = await client.request(FleetMeasurementsDocument, variables);
    const columns = ['at', 'min', 'mean', 'max', 'p95', { key: 'deviceCount', head: 'DEVICES' }] as const;
    await printRows(fleetMeasurements.points, columns, args);
  },
});

type HealthRow = FirmwareHealthQuery['firmwareHealth'][number];

const healthColumns: readonly ColumnLike<HealthRow>[] = [
  'version',
  { key: 'deviceCount', head: 'DEVICES' },
  { key: 'offlineCount', head: 'OFFLINE' },
  { key: 'deviceHours', head: 'HOURS', of: ({ deviceHours }) => rounded(deviceHours) },
  { key: 'unexpectedRestarts', head: 'RESTARTS' },
  { key: 'restartsPer1000Hours', head: 'PER 1000 H', of: (row) => rounded(row.restartsPer1000Hours) },
  { key: 'interval', of: ({ rateLow, rateHigh }) => intervalOf(rateLow, rateHigh) },
  { key: 'previousVersion', head: 'BEFORE' },
  { key: 'judgement', of: ({ isWorse, isBetter }) => (isWorse ? 'worse' : isBetter ? 'better' : null) },
];

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10;
}

function intervalOf(low: number | null, high: number | null): string | null {
  return low === null || high === null ? null : `${String(rounded(low))} to ${String(rounded(high))}`;
}

const firmwareCommand = hubLeaf({
  usage: 'firmware',
  summary: 'Compare firmware versions by unexpected restarts',
  examples: ['measurements firmware --since 7d', 'measurements firmware --model lichuang-dev'],
  options: (args) =>
    args.options(deviceFilterOptions).option('since', timeOption('since', 'Start of the period; 7d if it is left out')),
  run: async (args, client) => {
    const variables = { filter: deviceFilter(args), since: args.since ?? timeOf('since', '7d', Date.now()) };
    await printRows((await client.request(FirmwareHealthDocument, variables)).firmwareHealth, healthColumns, args);
  },
});

const ruleColumns: readonly ColumnLike<RecordingRuleRowFragment>[] = [
  'id',
  'path',
  'deadband',
  { key: 'minIntervalSeconds', head: 'SECONDS' },
  { key: 'devices', of: ({ devices }) => JSON.stringify(devices) },
  'savedAt',
];

const rulesCommand = hubLeaf({
  usage: 'rules',
  isDefault: true,
  summary: 'List the recording rules, latest saved first',
  examples: ['measurements', 'measurements rules --output json'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(client.request(RecordingRulesDocument, {}).then(({ recordingRules }) => recordingRules)),
      ruleColumns,
      args,
    ),
});

const setRuleCommand = leaf({
  usage: 'set-rule <path>',
  summary: 'Record a path of some devices, or replace a rule',
  examples: [
    `measurements set-rule self.get_device_status:audio_speaker.volume --all`,
    `measurements set-rule 'samples:*' --tag garden --deadband 0.5 --min-interval 60s`,
  ],
  notes: 'Of several rules for one path of a device the latest saved applies.',
  options: (args) =>
    withDevices(args)
      .positional('path', { type: 'string', demandOption: true, describe: 'The path; * matches one step' })
      .option('id', textOption('Id of the rule to replace'))
      .option(
        'deadband',
        numberOption('deadband', 'Smaller changes are not stored', { min: 0, max: 1e9, isFraction: true }),
      )
      .option(
        'min-interval',
        durationOption('min-interval', 'Time between two points, 60s by default', { plain: 's', max: '1d' }),
      ),
  run: (args) => {
    if (args.path === '') throw new UsageError('A rule needs a path, such as self.get_device_status:battery.level.');
    return withClient(args, async (client) => {
      const input = {
        id: args.id ?? null,
        devices: requiredDeviceFilter(args),
        path: args.path,
        deadband: args.deadband ?? 0,
        minIntervalSeconds: args['min-interval'] ?? 60,
      };
      const { setRecordingRule } = await client.request(SetRecordingRuleDocument, { input });
      await printChange({ ...expectAccepted(setRecordingRule).recordingRule }, args);
    });
  },
});

const deleteRuleCommand = hubLeaf({
  usage: 'delete-rule <id>',
  summary: 'Delete a recording rule; what was recorded stays',
  examples: [`measurements delete-rule ${anId} --yes`],
  options: (args) => withId(args, 'Id of the recording rule'),
  question: (args) => `The recording rule ${args.id} will be deleted; what was recorded stays.`,
  run: async (args, client) => {
    const { deleteRecordingRule } = await client.request(DeleteRecordingRuleDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteRecordingRule).deletedId }, args);
  },
});

export const measurementsCommand = group('measurements', 'Show and compare what devices reported over time', [
  showCommand,
  fleetCommand,
  firmwareCommand,
  rulesCommand,
  setRuleCommand,
  deleteRuleCommand,
]);
