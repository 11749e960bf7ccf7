/** `flotilla enrol block`, `unblock` and `blocked`: boards that are not admitted. */
import { expectAccepted } from '@flotilla/client';
import type { ColumnLike } from '../../console/output-format.js';
import { printChange } from '../../console/output.js';
import {
  BlockBoardDocument,
  BlockedBoardsDocument,
  UnblockBoardDocument,
  type BlockedRowFragment,
} from '../../generated/operations.js';
import { durationOption } from '../../options/duration-option.js';
import { eachNode } from '../../pages.js';
import { hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { given, withId } from '../../options/shared-options.js';

const aBoard = '02:00:00:00:00:01';
/** As the hub allows for a block with an end. */
const blockMax = '3660d';

export const blockCommand = hubLeaf({
  usage: 'block <id>',
  summary: 'Block a board: it waits as before, but is not listed, and nothing admits it',
  examples: [`enrol block ${aBoard}`, `enrol block ${aBoard} --for 24h`],
  notes: 'Without --for the block has no end. A device that is enrolled stays enrolled.',
  options: (args) =>
    withId(args, 'MAC address of the board').option(
      'for',
      durationOption('for', 'How long the block lasts', { plain: 'h', min: '36s', max: blockMax }),
    ),
  run: async (args, client) => {
    const until = args.for === undefined ? undefined : new Date(Date.now() + args.for * 1_000).toISOString();
    const { blockBoard } = await client.request(BlockBoardDocument, { deviceId: args.id, ...given({ until }) });
    await printChange({ ...expectAccepted(blockBoard).blockedBoard }, args);
  },
});

export const unblockCommand = hubLeaf({
  usage: 'unblock <id>',
  summary: 'End the block of a board; if it still asks, it is listed again',
  examples: [`enrol unblock ${aBoard}`],
  options: (args) => withId(args, 'MAC address of the board'),
  run: async (args, client) => {
    const { unblockBoard } = await client.request(UnblockBoardDocument, { deviceId: args.id });
    await printChange({ deviceId: expectAccepted(unblockBoard).deviceId, blocked: false }, args);
  },
});

const columns: readonly ColumnLike<BlockedRowFragment>[] = [
  { key: 'deviceId', head: 'BOARD' },
  'model',
  'until',
  { key: 'blockedBy', head: 'BY' },
  { key: 'blockedAt', head: 'SINCE' },
];

export const blockedCommand = hubLeaf({
  usage: 'blocked',
  summary: 'List blocked boards',
  examples: ['enrol blocked'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => eachNode(async (page) => (await client.request(BlockedBoardsDocument, page)).blockedBoards),
      columns,
      args,
    ),
});
