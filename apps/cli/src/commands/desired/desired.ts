/** `flotilla desired`: reads desired states, and the devices that they cover. */
import type { ComplianceState } from '@flotilla/client/schema';
import { withClient } from '../../connection.js';
import { formatOf } from '../../console/output-format.js';
import { printRows, printThing } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import { found } from '../../found.js';
import {
  DesiredStateEditsDocument,
  DesiredStatesDocument,
  DesiredStateTargetsDocument,
} from '../../generated/operations.js';
import { withId } from '../../options/shared-options.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import {
  createCommand,
  deleteCommand,
  disableCommand,
  editCommand,
  enableCommand,
  previewCommand,
  storedState,
} from './change.js';
import { countsText, desiredColumns, outOfSyncStates, targetColumns, windowText } from './desired-words.js';

const anId = '01990000-0000-7000-8000-00000000000d';

const states: readonly ComplianceState[] = [
  'IN_SYNC',
  ...outOfSyncStates,
  'UNSUPPORTED',
  'OVERRIDDEN',
  'OUT_OF_WINDOW',
];

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List desired states with the number of devices that are in sync',
  examples: ['desired', 'desired --watch'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => eachNode(async (page) => (await client.request(DesiredStatesDocument, page)).desiredStates),
      desiredColumns,
      args,
    ),
});

const showCommand = hubLeaf({
  usage: 'show <id>',
  values: ['desired'],
  summary: 'Show a desired state, its devices by state, and its latest 10 edits',
  examples: [`desired show ${anId}`, `desired show ${anId} --output json`],
  options: (args) => withId(args, 'Id of the desired state'),
  run: async (args, client) => {
    const state = await storedState(client, args.id);
    if (formatOf(args) !== 'table' || args.columns !== undefined) return printThing({ ...state }, args);
    const { summary, rollout, edits, id, name, tool, devices, enabled, pausedReason, generation } = state;
    await printThing(
      {
        id,
        name,
        tool,
        arguments: state.arguments,
        devices,
        window: windowText(state),
        mode: state.mode,
        onDrift: state.onDrift,
        priority: state.priority,
        generation,
        enabled: enabled ? 'yes' : (pausedReason ?? 'no'),
        devicesByState: `${summary.targeted}: ${countsText(summary)}`,
        t50Seconds: summary.t50Seconds,
        t95Seconds: summary.t95Seconds,
        t99Seconds: summary.t99Seconds,
        rollout: rollout?.id ?? null,
      },
      args,
    );
    await printRows(edits, ['generation', 'at', 'by', 'input'], {});
  },
});

const targetsCommand = leaf({
  usage: 'targets <id>',
  values: ['desired'],
  summary: 'List the devices of a desired state with their state, values and reason',
  examples: [`desired targets ${anId} --out-of-sync`, `desired targets ${anId} --state HELD --output csv`],
  options: (args) =>
    withListOptions(withId(args, 'Id of the desired state')).options({
      state: { choices: states, array: true, nargs: 1, describe: 'Devices in this state; repeatable' },
      'out-of-sync': { type: 'boolean', describe: 'Devices that differ, or may differ' },
    }),
  run: (args) => {
    if (args['out-of-sync'] === true && args.state !== undefined)
      throw new UsageError('--out-of-sync and --state exclude each other. Give one of them.');
    const wanted = args['out-of-sync'] === true ? outOfSyncStates : args.state;
    return withClient(args, (client) =>
      printList(
        () =>
          eachNode(async (page) => {
            const variables = { ...page, id: args.id, states: wanted ?? null };
            const { desiredState } = await client.request(DesiredStateTargetsDocument, variables);
            return found(desiredState, 'Desired state', args.id).targets;
          }),
        targetColumns,
        args,
      ),
    );
  },
});

const editsCommand = hubLeaf({
  usage: 'edits <id>',
  values: ['desired'],
  summary: 'List the edits of a desired state, latest first',
  examples: [`desired edits ${anId}`, `desired edits ${anId} --limit 0 --output jsonl`],
  options: (args) => withListOptions(withId(args, 'Id of the desired state')),
  run: (args, client) =>
    printList(
      () =>
        eachNode(async (page) => {
          const { desiredState } = await client.request(DesiredStateEditsDocument, { ...page, id: args.id });
          return found(desiredState, 'Desired state', args.id).editsConnection;
        }),
      ['generation', 'at', 'by', 'input'],
      args,
    ),
});

export const desiredCommand = group('desired', 'Keep values on devices, also on those that are offline or join later', [
  listCommand,
  showCommand,
  targetsCommand,
  editsCommand,
  createCommand,
  editCommand,
  enableCommand,
  disableCommand,
  deleteCommand,
  previewCommand,
]);
