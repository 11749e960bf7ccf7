/** `flotilla devices`: list, show, import. */
import type { Argv } from 'yargs';
import { FlotillaError } from '@flotilla/client';
import { withClient } from '../connection.js';
import { deviceFilter, deviceFilterOptions } from '../device-filter.js';
import { importDevices } from '../device-import/import-devices.js';
import { printRows, printThing, type Column } from '../console/output.js';
import { DeviceDetailsDocument } from '../generated/operations.js';
import { upTo } from '../pages.js';
import { command, limitOption, type GlobalArguments } from './command.js';
import { intMax, numberOption } from '../number-option.js';

interface ShownDevice {
  readonly id: string;
  readonly name: string | null;
  readonly model: string | null;
  readonly firmwareVersion: string | null;
  readonly presence: string;
  readonly lastSeenAt: string | null;
  readonly tags: readonly string[];
}

const columns: readonly Column<ShownDevice>[] = [
  { head: 'ID', of: ({ id }) => id },
  { head: 'NAME', of: ({ name }) => name },
  { head: 'MODEL', of: ({ model }) => model },
  { head: 'FIRMWARE', of: ({ firmwareVersion }) => firmwareVersion },
  { head: 'PRESENCE', of: ({ presence }) => presence },
  { head: 'LAST SEEN', of: ({ lastSeenAt }) => lastSeenAt },
  { head: 'TAGS', of: ({ tags }) => tags },
];

/** The hub refuses trust on first use for more than seven days. */
const trustHours = { min: 0.01, max: 168, isFraction: true };
const trustDescription =
  'Hours during which boards without a clientId are admitted without a code, on their first connection';

export function devicesCommand(program: Argv<GlobalArguments>) {
  return program.command('devices', 'List, show and import devices', (devices) =>
    devices
      .command(
        ['list', '$0'],
        'List devices',
        (list) => list.options(deviceFilterOptions).option('limit', limitOption()),
        command((args) =>
          withClient(args, async (client) => {
            await printRows(upTo(args.limit, client.devices({ filter: deviceFilter(args) })), columns, args);
          }),
        ),
      )
      .command(
        'show <id>',
        'Show one device with its tools and last sessions',
        (show) => show.positional('id', { type: 'string', demandOption: true }),
        command((args) =>
          withClient(args, async (client) => {
            const { device } = await client.request(DeviceDetailsDocument, { id: args.id });
            if (device === null) throw new FlotillaError('NOT_FOUND', `Device not found: "${args.id}".`);
            await printThing(
              args.json === true ? device : { ...device, tools: device.tools.map(({ name }) => name) },
              args,
            );
          }),
        ),
      )
      .command(
        'import <file>',
        'Register devices from a CSV file (- for standard input), and print their credentials once, as JSON lines',
        (load) =>
          load
            .positional('file', { type: 'string', demandOption: true })
            .option('from-line', numberOption('from-line', 'Start at this line of the file', { min: 1, max: intMax }))
            .option('admit-without-code-for', numberOption('admit-without-code-for', trustDescription, trustHours))
            .option('dry-run', { type: 'boolean', describe: 'Check the file and register nothing' })
            .epilogue(
              'Columns: deviceId, and any of name, tags (separated by ;), dialect (XIAOZHI or MCPU), transport, ' +
                'address, clientId, admitWithoutCodeUntil. The hub registers batches of 1000 devices, each ' +
                'completely or not at all.',
            ),
        command((args) => withClient(args, (client) => importDevices(client, args))),
      )
      .demandCommand(0),
  );
}
