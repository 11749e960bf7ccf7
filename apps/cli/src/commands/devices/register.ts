/** `flotilla devices add` and `import`. */
import { expectAccepted } from '@flotilla/client';
import { printChange } from '../../console/output.js';
import { importDevices } from '../../device-import/import-devices.js';
import { RegisterDeviceDocument } from '../../generated/operations.js';
import { durationOption } from '../../options/duration-option.js';
import { intMax, numberOption } from '../../options/number-option.js';
import { hubLeaf } from '../command.js';
import { given, listOption, textOption, withId } from '../../options/shared-options.js';

/** The hub refuses trust on first use for more than seven days. */
const trustOption = durationOption(
  'admit-without-code-for',
  'How long boards without a clientId are admitted without a code, on their first connection',
  { plain: 'h', min: '36s', max: '7d' },
);

export const transports = ['MQTT', 'WEBSOCKET', 'TCP'] as const;

export const addCommand = hubLeaf({
  usage: 'add <id>',
  summary: 'Register one device, and print its credential once',
  examples: [
    'devices add 02:00:00:00:00:09 --name "Lobby left" --tag lobby',
    'devices add greenhouse-7 --dialect MCPU --address 192.168.1.41:3000',
  ],
  options: (args) =>
    withId(args, 'Id of the device')
      .option('dialect', { choices: ['XIAOZHI', 'MCPU'] as const, default: 'XIAOZHI' as const })
      .option('name', textOption('Name'))
      .option('tag', listOption('Tag'))
      .option('transport', { choices: transports, requiresArg: true })
      .option('address', textOption('host:port of an MCPU device with TCP'))
      .option('client-id', textOption('Client-Id (UUID) of the board, which proves its identity'))
      .option('admit-without-code-for', trustOption),
  run: async (args, client) => {
    const { id: deviceId, dialect, name, tag: tags, transport, address, clientId, admitWithoutCodeFor: seconds } = args;
    const admitWithoutCodeUntil =
      seconds === undefined ? undefined : new Date(Date.now() + seconds * 1_000).toISOString();
    const input = {
      deviceId,
      dialect,
      ...given({ name, tags, transport, address, clientId, admitWithoutCodeUntil }),
    };
    const { device, credential } = expectAccepted(
      (await client.request(RegisterDeviceDocument, { input })).registerDevice,
    );
    await printChange({ id: deviceId, ...device, credential }, args);
  },
});

export const importCommand = hubLeaf({
  usage: 'import <file>',
  summary: 'Register devices from a CSV file (- for standard input), and print their credentials once, as JSON lines',
  examples: ['devices import boards.csv --dry-run', 'devices import boards.csv > credentials.jsonl'],
  notes:
    'Columns: deviceId, and any of name, tags (separated by ;), dialect (XIAOZHI or MCPU), transport, ' +
    'address, clientId, admitWithoutCodeUntil. The hub registers batches of 1000 devices, each completely or not ' +
    'at all.',
  options: (args) =>
    args
      .positional('file', { type: 'string', demandOption: true })
      .option('from-line', numberOption('from-line', 'Start at this line of the file', { min: 1, max: intMax }))
      .option('admit-without-code-for', trustOption)
      .option('dry-run', { type: 'boolean', describe: 'Check the file and register nothing' }),
  run: (args, client) => importDevices(client, args),
});
