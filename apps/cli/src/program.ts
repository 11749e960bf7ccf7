/** The program: its commands and options, without a process. */
import { readFileSync } from 'node:fs';
import yargs, { type Argv } from 'yargs';
import { auditCommand } from './commands/access/audit.js';
import { grantsCommand } from './commands/access/grants.js';
import { keysCommand } from './commands/access/keys.js';
import { usersCommand } from './commands/access/users.js';
import { alertsCommand } from './commands/alerts/alerts.js';
import { channelsCommand } from './commands/alerts/channels.js';
import { webhooksCommand } from './commands/access/webhooks.js';
import { callCommand } from './commands/calls/call.js';
import { callsCommand } from './commands/calls/calls.js';
import { policiesCommand } from './commands/calls/policies.js';
import { toolsCommand } from './commands/calls/tools.js';
import type { Command } from './commands/command.js';
import { desiredCommand } from './commands/desired/desired.js';
import { applyCommand, exportCommand, planCommand } from './commands/configuration/configuration.js';
import { devicesCommand } from './commands/devices/devices.js';
import { groupsCommand } from './commands/devices/groups.js';
import { enrolCommand } from './commands/enrol/enrol.js';
import { firmwareCommand } from './commands/firmware/firmware.js';
import { importCommand } from './commands/moving/import.js';
import { movingCommand } from './commands/moving/moving.js';
import { globalOptions } from './options/global-options.js';
import { jobsCommand } from './commands/jobs/jobs.js';
import { recurringCommand } from './commands/jobs/recurring.js';
import { measurementsCommand } from './commands/measurements/measurements.js';
import { loginCommand, logoutCommand, whoamiCommand } from './commands/profiles/login.js';
import { profilesCommand } from './commands/profiles/profiles.js';
import { completionCommand } from './commands/program/completion.js';
import { eventsCommand } from './commands/program/events.js';
import { graphqlCommand } from './commands/program/graphql.js';
import { mcpCommand } from './commands/program/mcp.js';
import { openCommand } from './commands/program/open.js';
import { UsageError } from './exit-codes.js';
import { restoreDashes, standardInput } from './json-input.js';
import { usageProblem } from './usage-problem.js';
import { givenTwice } from './options/number-option.js';

/** Maximum width of help, in columns. */
const helpWidthMax = 120;

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  devicesCommand,
  groupsCommand,
  toolsCommand,
  callCommand,
  callsCommand,
  measurementsCommand,
  policiesCommand,
  jobsCommand,
  recurringCommand,
  desiredCommand,
  firmwareCommand,
  enrolCommand,
  movingCommand,
  importCommand,
  eventsCommand,
  auditCommand,
  keysCommand,
  grantsCommand,
  usersCommand,
  webhooksCommand,
  exportCommand,
  planCommand,
  applyCommand,
  alertsCommand,
  channelsCommand,
  graphqlCommand,
  openCommand,
  mcpCommand,
  loginCommand,
  profilesCommand,
  whoamiCommand,
  logoutCommand,
  completionCommand,
];

/** The parser of a command line, with handlers that set the exit code of the process. */
export function programOf(words: readonly string[]): Argv {
  const program = yargs(words.map((word) => (word === '-' ? standardInput : word)))
    .scriptName('flotilla')
    .usage('$0 <command>\n\nThe command line of a Flotilla hub.')
    .options(globalOptions)
    .version('version', 'Print the version of the command line', versionOf())
    .strict()
    .demandCommand(1, 'Missing command. Run `flotilla --help`.')
    .wrap(Math.min(helpWidthMax, process.stdout.columns ?? helpWidthMax))
    .exitProcess(false)
    .middleware(restoreDashes, true)
    .check(refuseRepeated)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new UsageError(usageProblem(message, words, commands));
    });
  for (const command of commands) command.addTo(program);
  program.example([
    ['$0 login https://hub.example'],
    ['$0 devices --online --tag lobby'],
    ['$0 call 02:00:00:00:00:01 self.audio_speaker.set_volume volume=30'],
    ['$0 jobs --watch'],
  ]);
  return program.epilogue(
    'Exit codes: 0 done, 1 usage or unexpected error, 2 rejected, 3 not every device succeeded, 4 hub unreachable, ' +
      '5 key missing, invalid or without the scope, 130 Ctrl-C.',
  );
}

/** The version in package.json, which is one folder above `src` and `dist`. */
function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/**
 * yargs makes an array of repeated options, also of single values. Its check receives all option
 * values.
 */
function refuseRepeated(args: Readonly<Record<string, unknown>>, options: object): true {
  const lists: unknown = Reflect.get(options, 'array');
  const repeated = Object.entries(args).find(
    ([name, value]) => name !== '_' && Array.isArray(value) && !(Array.isArray(lists) && lists.includes(name)),
  );
  if (repeated !== undefined) throw givenTwice(repeated[0]);
  return true;
}
