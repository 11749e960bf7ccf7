/** The simulator: reads the options, starts the fleet, listens to commands, stops cleanly. */
import { createInterface } from 'node:readline';
import { Boards } from './boards/boards.js';
import { runCommand } from './command/commands.js';
import { Fleet } from './fleet.js';
import { readOptions } from './command/options.js';
import { Reporter } from './command/reporter.js';

const options = readOptions(process.argv, process.env);
const reporter = new Reporter(options, {
  line: (text) => process.stdout.write(`${text}\n`),
  sentence: (text) => process.stderr.write(`${text}\n`),
});
const fleet = openFleet();
const boards = new Boards(options);

/** How long the sockets may take to say goodbye. */
const STOP_WAIT_MS = 2000;

let isStopping = false;

function openFleet(): Fleet {
  try {
    return new Fleet(options, reporter);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

function stop(): void {
  if (isStopping) return;
  isStopping = true;
  fleet.stop();
  boards.close();
  reporter.stop();
  process.stdin.destroy();
  setTimeout(() => process.exit(0), STOP_WAIT_MS).unref();
  reporter.event({ event: 'stopped' });
  reporter.say('Stopped.');
}

process.stdout.on('error', stop);
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

if (options.isJson) {
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const { answer, isStop } = runCommand(line, { fleet, boards });
      reporter.event(answer);
      if (isStop) stop();
    })
    .on('close', stop);
}

reporter.event({ event: 'started', devices: fleet.size, seed: options.seed, hasSecret: fleet.hasSecret });
if (boards.size > 0) {
  await boards.open().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The microcontrollers cannot listen: ${reason}. Give another --mcpu-port.\n`);
    process.exit(1);
  });
  for (const { address, profile } of boards.list())
    reporter.say(`A microcontroller (${profile}) waits at ${address} to be dialled.`);
}
if (options.isJson) reporter.event({ event: 'boards', boards: boards.list() });
for (const settings of options.mcpuCredentials) boards.dialIn(settings, undefined);
if (fleet.size > 0) {
  reporter.say(`${fleet.size} simulated devices connect to ${options.ota ?? options.host}. Ctrl-C stops them.`);
  if (options.ota === undefined && !fleet.hasSecret)
    reporter.say(
      `No device secret given, and none in ${fleet.secretFile}: connecting without credentials until it is there.`,
    );
}
fleet.start();
