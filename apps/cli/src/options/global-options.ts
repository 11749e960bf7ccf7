/** Options of every command. */
import { outputFormats, type OutputOptions } from '../console/output-format.js';
import type { ConnectionOptions } from '../connection.js';

/** The heading of these options in the help. */
const group = 'Connection and output:';

export const globalOptions = {
  url: {
    group,
    type: 'string',
    requiresArg: true,
    describe: 'Address of the hub [FLOTILLA_URL, the profile, or else http://127.0.0.1:8080]',
  },
  key: {
    group,
    type: 'string',
    requiresArg: true,
    describe: 'API key [FLOTILLA_KEY, or the profile]. Other users can see it in the process list',
  },
  profile: {
    group,
    type: 'string',
    requiresArg: true,
    describe: 'Profile that `flotilla login` stored [FLOTILLA_PROFILE, or the current one]',
  },
  'key-file': { group, type: 'string', requiresArg: true, describe: 'File with the API key' },
  output: {
    group,
    alias: 'o',
    choices: outputFormats,
    requiresArg: true,
    describe: 'Format of the results [table]',
  },
  columns: { group, type: 'string', requiresArg: true, describe: 'Columns or fields to print, such as id,name' },
  json: { group, type: 'boolean', describe: 'Short for --output jsonl: one line of JSON per result' },
} as const;

export type GlobalArguments = ConnectionOptions & OutputOptions;
