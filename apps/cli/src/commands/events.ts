/** `flotilla events tail`. */
import type { Argv } from 'yargs';
import type { TailedEvent } from '@flotilla/client';
import { withClient } from '../connection.js';
import { untilInterrupted } from '../console/interrupt.js';
import { say, write } from '../console/output.js';
import { jsonLine, printable } from '../console/printable.js';
import { exitCodes } from '../exit-codes.js';
import { command, type GlobalArguments } from './command.js';
import { intMax, numberOption } from '../number-option.js';

export function eventsCommand(program: Argv<GlobalArguments>) {
  return program.command('events', 'Show events', (events) =>
    events
      .command(
        'tail',
        'Print events as they happen; after a lost connection also the missed ones',
        (tail) =>
          tail
            .option('device', { type: 'string', requiresArg: true, describe: 'Only events of this device' })
            .option('type', {
              type: 'string',
              array: true,
              nargs: 1,
              requiresArg: true,
              describe: 'Only events of this type; repeatable',
            })
            .option('after', {
              type: 'string',
              requiresArg: true,
              describe: 'Start after the event with this cursor, as --json prints it',
            })
            .option('count', numberOption('count', 'Stop after this number of events', { min: 1, max: intMax })),
        command((args) =>
          withClient(args, async (client) => {
            const filter = {
              ...(args.device === undefined ? {} : { deviceId: args.device }),
              ...(args.type === undefined ? {} : { types: args.type }),
            };
            let last: string | undefined;
            const end = await untilInterrupted(async (signal) => {
              let count = 0;
              const after = args.after === undefined ? {} : { after: args.after };
              for await (const event of client.events({ filter, signal, ...after })) {
                await write(
                  `${args.json === true ? jsonLine({ cursor: event.cursor, ...event.node }) : lineOf(event)}\n`,
                );
                last = event.cursor;
                if (++count === args.count) return;
              }
            });
            if (end !== 'interrupted') return exitCodes.done;
            if (last !== undefined) say(`Continue from here with: --after ${last}`);
            return exitCodes.interrupted;
          }),
        ),
      )
      .demandCommand(1, 'Missing command. Run `flotilla events --help`.'),
  );
}

function lineOf({ node: { at, type, deviceId, data } }: TailedEvent): string {
  return `${at}  ${printable(type)}  ${printable(deviceId ?? '-')}  ${jsonLine(data)}`;
}
