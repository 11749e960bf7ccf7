/** `flotilla enrol`: the devices that wait for approval. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { ColumnLike } from '../../console/output-format.js';
import { printChange } from '../../console/output.js';
import { found } from '../../found.js';
import {
  ApproveEnrolmentDocument,
  EnrolmentsDocument,
  RejectEnrolmentDocument,
  type EnrolmentsQuery,
} from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { listOption, textOption } from '../../options/shared-options.js';
import { blockCommand, blockedCommand, unblockCommand } from './block.js';
import { linkCommand, linksCommand } from './links.js';

type Waiting = EnrolmentsQuery['enrolments']['nodes'][number];

const columns: readonly ColumnLike<Waiting>[] = [
  { key: 'deviceId', head: 'DEVICE' },
  'code',
  'model',
  { key: 'firmwareVersion', head: 'FIRMWARE' },
  { key: 'remoteAddress', head: 'ADDRESS' },
  'replaces',
  { key: 'requestedAt', head: 'SINCE' },
];

const waiting = (client: FlotillaClient) =>
  eachNode(async (page) => (await client.request(EnrolmentsDocument, page)).enrolments);

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List devices that wait for approval',
  examples: ['enrol', 'enrol list --watch'],
  options: (args) => withListOptions(args),
  run: (args, client) => printList(() => waiting(client), columns, args),
});

const approveCommand = hubLeaf({
  usage: 'approve <code>',
  summary: 'Approve the device that shows this code',
  examples: ['enrol approve 123456 --name "Lobby left" --tag lobby'],
  options: (args) =>
    args
      .positional('code', { type: 'string', demandOption: true })
      .option('name', textOption('Name for the device'))
      .option('tag', listOption('Tag for the device'))
      .option('confirm', {
        type: 'boolean',
        default: false,
        describe: 'Approve it also if it replaces an online device',
      }),
  run: async (args, client) => {
    const { code, name, tag: tags, confirm } = args;
    const { approveEnrolment } = await client.request(ApproveEnrolmentDocument, { code, name, tags, confirm });
    await printChange({ ...expectAccepted(approveEnrolment).device }, args);
  },
});

const rejectCommand = hubLeaf({
  usage: 'reject <device>',
  summary: 'Reject a device that waits; it may ask again',
  examples: ['enrol reject 02:00:00:00:00:01'],
  options: (args) =>
    args.positional('device', {
      type: 'string',
      demandOption: true,
      describe: 'Device id, code or id of the enrolment',
    }),
  run: async (args, client) => {
    const { id, deviceId } = found(await enrolmentOf(client, args.device), 'Waiting device', args.device);
    expectAccepted((await client.request(RejectEnrolmentDocument, { id })).rejectEnrolment);
    await printChange({ deviceId, rejected: true }, args);
  },
});

async function enrolmentOf(client: FlotillaClient, named: string): Promise<Waiting | undefined> {
  const wanted = named.toLowerCase();
  for await (const one of waiting(client))
    if ([one.deviceId, one.code, one.id].some((name) => name?.toLowerCase() === wanted)) return one;
  return undefined;
}

export const enrolCommand = group('enrol', 'List, approve, reject and block waiting devices', [
  listCommand,
  approveCommand,
  rejectCommand,
  blockCommand,
  unblockCommand,
  blockedCommand,
  linkCommand,
  linksCommand,
]);
