/** `flotilla moving`: boards that move here from a former server, and back. */
import { expectAccepted } from '@flotilla/client';
import type { ColumnLike } from '../../console/output-format.js';
import { printChange, printChanges } from '../../console/output.js';
import {
  AddMovingBoardsDocument,
  MoveBoardsBackDocument,
  MoveBoardsDocument,
  MovingBoardsDocument,
  type MovingRowFragment,
} from '../../generated/operations.js';
import { given, textOption, withId } from '../../options/shared-options.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';

const aBoard = '02:00:00:00:00:01';

const columns: readonly ColumnLike<MovingRowFragment>[] = [
  { key: 'deviceId', head: 'BOARD' },
  'state',
  { key: 'isHere', head: 'HERE' },
  { key: 'boundThere', head: 'BOUND THERE' },
  { key: 'formerName', head: 'NAME THERE' },
  { key: 'formerAgent', head: 'AGENT' },
  { key: 'askedAt', head: 'ASKED' },
  { key: 'attemptedAt', head: 'OLD CREDENTIAL' },
];

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List boards of the former server: moved, not moved, or not seen yet',
  examples: ['moving', 'moving list --state NOT_MOVED'],
  options: (args) =>
    withListOptions(args).option('state', {
      choices: ['MOVED', 'NOT_MOVED', 'UNKNOWN'] as const,
      requiresArg: true,
      describe: 'Only boards in this state',
    }),
  run: (args, client) =>
    printList(
      () =>
        eachNode(
          async (page) =>
            (await client.request(MovingBoardsDocument, { ...page, ...given({ state: args.state }) })).movingBoards,
        ),
      columns,
      args,
    ),
});

const moveCommand = hubLeaf({
  usage: 'move <ids..>',
  summary: 'Move boards here: from their next start on, this hub answers them',
  examples: [`moving move ${aBoard}`],
  options: (args) => args.positional('ids', boards),
  run: async (args, client) => {
    const { moveBoards } = await client.request(MoveBoardsDocument, { deviceIds: args.ids });
    await printChanges(expectAccepted(moveBoards).boards, columns, args);
  },
});

const backCommand = hubLeaf({
  usage: 'back <ids..>',
  summary: 'Move boards back: from their next start on, the former server answers them',
  examples: [`moving back ${aBoard}`],
  notes: 'The credential of a board works here until the former server has answered it.',
  options: (args) => args.positional('ids', boards),
  run: async (args, client) => {
    const { moveBoardsBack } = await client.request(MoveBoardsBackDocument, { deviceIds: args.ids });
    await printChanges(expectAccepted(moveBoardsBack).boards, columns, args);
  },
});

const boards = {
  type: 'string',
  array: true,
  demandOption: true,
  describe: 'MAC addresses of up to 500 boards',
} as const;

const addCommand = hubLeaf({
  usage: 'add <id>',
  summary: 'List a board of the former server that has not asked here yet',
  examples: [`moving add ${aBoard}`, `moving add ${aBoard} --name "Lobby left" --agent Guide`],
  options: (args) =>
    withId(args, 'MAC address of the board')
      .option('name', textOption('Its name there'))
      .option('agent', textOption('Its agent there'))
      .option('user', textOption('Its user there')),
  run: async (args, client) => {
    const { agent, id: deviceId, name, user } = args;
    const board = { deviceId, ...given({ name, agent, user }) };
    expectAccepted((await client.request(AddMovingBoardsDocument, { boards: [board] })).addMovingBoards);
    await printChange({ deviceId, listed: true }, args);
  },
});

export const movingCommand = group('moving', 'List boards of a former server, and move them here and back', [
  listCommand,
  moveCommand,
  backCommand,
  addCommand,
]);
