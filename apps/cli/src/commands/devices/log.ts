/** `flotilla devices log`. */
import { withClient } from '../../connection.js';
import { untilInterrupted } from '../../console/interrupt.js';
import { formatOf } from '../../console/output-format.js';
import { RowPrinter, say, write } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { exitCodes, UsageError } from '../../exit-codes.js';
import { SessionLogDocument, type SessionLogSubscription } from '../../generated/operations.js';
import { intMax, numberOption } from '../../options/number-option.js';
import { withId } from '../../options/shared-options.js';
import { leaf } from '../command.js';

type Entry = SessionLogSubscription['sessionLog'];

const columns = ['at', 'kind', 'text', 'bytes', 'isTruncated'].map((key) => ({ key }));

export const logCommand = leaf({
  usage: 'log <id>',
  values: ['device'],
  summary: 'Print each message between the hub and a device, for at most 15 minutes',
  notes:
    'For administrators. Secrets are masked, and the audit trail records that you read the log. ' +
    '> is a message of the hub, < one of the device.',
  examples: ['devices log 02:00:00:00:00:01', 'devices log 02:00:00:00:00:01 --output jsonl --count 20'],
  options: (args) =>
    withId(args, 'Id of the device').option(
      'count',
      numberOption('count', 'Stop after this number of messages', { min: 1, max: intMax }),
    ),
  run: (args) => {
    const format = formatOf(args);
    if (format === 'json') throw new UsageError('A log is printed as it is read, so it is not one array. Use jsonl.');
    const isLine = format === 'table' && args.columns === undefined;
    const printer = new RowPrinter<Entry>(columns, args);
    return withClient(args, async (client) => {
      const end = await untilInterrupted(async (signal) => {
        let count = 0;
        for await (const { sessionLog } of client.subscribe(SessionLogDocument, { deviceId: args.id }, { signal })) {
          if (isLine) await write(`${lineOf(sessionLog)}\n`);
          else await printer.print(sessionLog).then(() => printer.flush());
          const isMessage = sessionLog.kind === 'SENT' || sessionLog.kind === 'RECEIVED';
          if (isMessage && ++count === args.count) return;
        }
        say('The log has ended. Open it again to read on.');
      });
      return end === 'interrupted' ? exitCodes.interrupted : exitCodes.done;
    });
  },
});

const marks: Readonly<Record<Entry['kind'], string>> = {
  SENT: '>',
  RECEIVED: '<',
  STARTED: '- the log ends at',
  OPENED: '- connected:',
  CLOSED: '- disconnected:',
  DROPPED: '- messages not shown:',
};

function lineOf({ at, bytes, isTruncated, kind, text }: Entry): string {
  return `${at}  ${marks[kind]} ${printable(text)}${isTruncated ? ` … (${bytes} bytes)` : ''}`;
}
