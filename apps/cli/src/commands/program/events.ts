/** `flotilla events tail`. */
import type { TailedEvent } from '@flotilla/client';
import { withClient } from '../../connection.js';
import { untilInterrupted } from '../../console/interrupt.js';
import { formatOf } from '../../console/output-format.js';
import { RowPrinter, say, write } from '../../console/output.js';
import { jsonText, printable } from '../../console/printable.js';
import { exitCodes, UsageError } from '../../exit-codes.js';
import { intMax, numberOption } from '../../options/number-option.js';
import { group, leaf } from '../command.js';
import { listOption, textOption } from '../../options/shared-options.js';

const columns = ['at', 'type', 'deviceId', 'data', 'cursor'].map((key) => ({ key }));

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
      .option('device', textOption('Only events of this device'))
      .option('type', listOption('Only events of this type or prefix, such as job.*'))
      .option('except', listOption('Leave out events of this type, such as device.samples or device.*'))
      .option('after', textOption('Start after the event with this cursor, as --json prints it'))
      .option('count', numberOption('count', 'Stop after this number of events', { min: 1, max: intMax })),
  run: (args) => {
    const format = formatOf(args);
    if (format === 'json') throw new UsageError('Events have no end, so they cannot be one JSON array. Use jsonl.');
    const isLine = format === 'table' && args.columns === undefined;
    const printer = new RowPrinter<object>(columns, args);
    return withClient(args, async (client) => {
      const filter = {
        ...(args.device === undefined ? {} : { deviceId: args.device }),
        ...(args.type === undefined ? {} : { types: args.type }),
        ...(args.except === undefined ? {} : { exceptTypes: args.except }),
      };
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

export const eventsCommand = group('events', 'Show events', [tailCommand]);
