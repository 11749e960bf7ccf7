/** `flotilla events`: those of the past, and those that happen now. */
import type { TailedEvent } from '@flotilla/client';
import type { InferredOptionTypes } from 'yargs';
import { withClient } from '../../connection.js';
import { untilInterrupted } from '../../console/interrupt.js';
import { formatOf } from '../../console/output-format.js';
import { RowPrinter, say, write } from '../../console/output.js';
import { jsonText, printable } from '../../console/printable.js';
import { exitCodes, UsageError } from '../../exit-codes.js';
import { EventListDocument } from '../../generated/operations.js';
import { intMax, numberOption } from '../../options/number-option.js';
import { given, listOption, textOption } from '../../options/shared-options.js';
import { timeOption } from '../../options/time-option.js';
import { eachNode } from '../../pages.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';

const tailColumns = ['at', 'type', 'deviceId', 'data', 'cursor'].map((key) => ({ key }));

const filterOptions = {
  device: textOption('Only events of this device'),
  type: listOption('Only events of this type or prefix, such as job.*'),
  except: listOption('Leave out events of this type, such as device.samples or device.*'),
} as const;

function filterOf({ device, type, except }: Partial<InferredOptionTypes<typeof filterOptions>>) {
  return given({ deviceId: device, types: type, exceptTypes: except });
}

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List past events, latest first',
  examples: ['events --device 02:00:00:00:00:01 --since 7d', 'events list --type "job.*" --output csv --limit 0'],
  options: (args) =>
    withListOptions(args, 50)
      .options(filterOptions)
      .option('since', timeOption('since', 'From this time, such as 7d, 12h or 2026-01-31'))
      .option('until', timeOption('until', 'Before this time')),
  run: (args, client) => {
    const filter = { ...filterOf(args), ...given({ since: args.since, until: args.until }) };
    return printList(
      () =>
        eachNode(
          async (page) => (await client.request(EventListDocument, { filter, orderBy: 'AT_DESC', ...page })).events,
        ),
      ['at', 'type', { key: 'deviceId', head: 'DEVICE' }, 'data'],
      args,
    );
  },
});

const tailCommand = leaf({
  usage: 'tail',
  summary: 'Print events as they happen; after a lost connection also the missed ones',
  examples: [
    'events tail --type job.finished --count 1',
    'events tail --type "device.*" --except device.samples',
    'events tail --device 02:00:00:00:00:01 --json',
  ],
  options: (args) =>
    args
      .options(filterOptions)
      .option('after', textOption('Start after the event with this cursor, as --json prints it'))
      .option('count', numberOption('count', 'Stop after this number of events', { min: 1, max: intMax })),
  run: (args) => {
    const format = formatOf(args);
    if (format === 'json') throw new UsageError('Events have no end, so they cannot be one JSON array. Use jsonl.');
    const isLine = format === 'table' && args.columns === undefined;
    const printer = new RowPrinter<object>(tailColumns, args);
    return withClient(args, async (client) => {
      const filter = filterOf(args);
      let last: string | undefined;
      const end = await untilInterrupted(async (signal) => {
        let count = 0;
        const after = args.after === undefined ? {} : { after: args.after };
        for await (const event of client.events({ filter, signal, ...after })) {
          if (isLine) await write(`${lineOf(event)}\n`);
          else await printer.print({ cursor: event.cursor, ...event.node }).then(() => printer.flush());
          last = event.cursor;
          if (++count === args.count) return;
        }
      });
      if (end !== 'interrupted') return exitCodes.done;
      if (last !== undefined) say(`Continue from here with: --after ${last}`);
      return exitCodes.interrupted;
    });
  },
});

function lineOf({ node: { at, type, deviceId, data } }: TailedEvent): string {
  return `${at}  ${printable(type)}  ${printable(deviceId ?? '-')}  ${jsonText(data)}`;
}

export const eventsCommand = group('events', 'List past events, and print events as they happen', [
  listCommand,
  tailCommand,
]);
