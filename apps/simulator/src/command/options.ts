/**
 * The command line: every option of a simulated fleet, checked, with defaults from the environment.
 */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  behaviourSchema,
  isLasting,
  profileNames,
  type LastingBehaviour,
  type Network,
  type ProfileName,
} from '@flotilla/simulated-device';
import { boardSettingsSchema } from '../boards/board-settings.js';
import type { BoardSettings } from '../boards/board-settings.js';
import { addKnob } from './knob-option.js';
import { readJson } from './read-json.js';

/** Devices per source address: one loopback address has about 28,000 ports, and some are taken. */
const DEVICES_PER_ADDRESS = 20_000;
/** More needs several processes: a process has 20,000 to 100,000 open files on ordinary systems. */
const DEVICES_MAX = 100_000;
/** Each microcontroller listens on its own port, and one address has about 28,000 of them. */
const BOARDS_MAX = 5_000;
/** Devices can parse no other hosts. [xiaozhi §1.1] */
const HOST = /^[\w.-]+$/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+)$/;

export interface SimulatorOptions {
  readonly devices: number;
  readonly transport: 'mqtt' | 'websocket' | 'mixed';
  readonly profile: ProfileName | 'mixed';
  /**
   * The OTA address of the devices. Undefined: they connect directly, with the fleet-wide secret.
   */
  readonly ota: string | undefined;
  /** Authority that the devices trust besides the public ones, PEM. */
  readonly ca: string | undefined;
  /** Divides the pauses of the firmware. */
  readonly speed: number;
  readonly network: Network;
  readonly host: string;
  readonly mqttPort: number;
  readonly httpPort: number;
  readonly secret: string | undefined;
  readonly dataDir: string;
  /** Devices that connect per second; 0 is all at once. */
  readonly rate: number;
  readonly seed: number;
  readonly isJson: boolean;
  readonly answerDelayMs: number;
  /** Instead of the firmware's pause. */
  readonly reconnectMs: number | undefined;
  readonly bootMs: number | undefined;
  readonly keepAliveSeconds: number;
  readonly mqttLevel: 3 | 4;
  readonly localAddresses: number;
  /** Pace of downloads; 0 is as fast as they come. */
  readonly downloadKibPerSecond: number;
  /** Microcontrollers that wait to be dialled, and further ones that misbehave. */
  readonly mcpu: number;
  readonly mcpuFaulty: number;
  readonly mcpuHost: string;
  /** Of the first; the others follow it. 0 for any that are free. */
  readonly mcpuPort: number;
  /** Of microcontrollers that come by themselves. */
  readonly mcpuCredentials: readonly BoardSettings[];
  /** Which every device begins with. */
  readonly behaviours: readonly LastingBehaviour[];
  /** Turns of knobs, for the first `knobDevices` devices. */
  readonly knobs: readonly LastingBehaviour[];
  readonly knobDevices: number;
}

/** What commander hands over; the parsers below have checked each value. */
type GivenOptions = Omit<SimulatorOptions, 'isJson' | 'mqttLevel' | 'behaviours' | 'mcpuCredentials' | 'knobs'> & {
  readonly mcpuCredentials?: readonly BoardSettings[];
  readonly behaviour?: readonly LastingBehaviour[];
  readonly knob?: readonly LastingBehaviour[];
  readonly json?: boolean;
  readonly direct?: boolean;
  readonly mqttLevel: string;
};

/** Parses `process.argv`; wrong usage ends the process with a message, as `--help` does. */
export function readOptions(argv: readonly string[], env: NodeJS.ProcessEnv): SimulatorOptions {
  const command = describeOptions(env);
  const given = command.parse(argv).opts<GivenOptions>();
  if (!HOST.test(given.host)) command.error(`error: --host must be a name or an IPv4 address, not ${given.host}.`);
  if (given.ota !== undefined && !(URL.canParse(given.ota) && /^https?:/.test(given.ota)))
    command.error(`error: --ota must be a URL that begins with http: or https:, not ${given.ota}.`);
  const localAddresses = given.localAddresses || Math.ceil(given.devices / DEVICES_PER_ADDRESS) || 1;
  const hubHost = given.ota === undefined ? given.host : new URL(given.ota).hostname;
  if (localAddresses > 1 && !LOOPBACK.test(hubHost)) {
    command.error(
      `error: --local-addresses ${localAddresses} needs a loopback hub. Run one simulator per machine instead.`,
    );
  }
  if (given.mcpuPort !== 0 && given.mcpuPort + given.mcpu + given.mcpuFaulty > 65_536)
    command.error(`error: from --mcpu-port ${given.mcpuPort} on there are not enough ports for all microcontrollers.`);
  if (given.ota !== undefined && given.direct)
    command.error('error: --ota and --direct exclude each other. Give one of them.');
  const { json, direct, mqttLevel, ...rest } = given;
  const { behaviour: behaviours = [], mcpuCredentials = [], knob: knobs = [] } = given;
  const ota = direct ? undefined : (given.ota ?? `http://${given.host}:${given.httpPort}/ota/`);
  return {
    ...rest,
    ota,
    mqttLevel: mqttLevel === '3' ? 3 : 4,
    isJson: json === true,
    localAddresses,
    behaviours,
    knobs,
    mcpuCredentials,
  };
}

function describeOptions(env: NodeJS.ProcessEnv): Command {
  const command = new Command('simulate')
    .description('Runs a fleet of simulated devices against a hub until Ctrl-C.')
    .addOption(number('--devices <n>', 'how many devices', 40, 0, DEVICES_MAX))
    .addOption(
      new Option('--transport <kind>', 'how they connect with --direct; mixed is one in four over WebSocket')
        .choices(['mqtt', 'websocket', 'mixed'])
        .default('mqtt'),
    )
    .addOption(new Option('--profile <name>', 'what they are').choices(['mixed', ...profileNames]).default('mixed'))
    .option('--ota <url>', 'the OTA address that the devices ask at boot (default: /ota/ of the hub)')
    .option('--direct', 'connect without asking, with the fleet-wide secret, to a hub with FLOTILLA_DEVICE_AUTH=hmac')
    .option('--ca <file>', 'PEM file of an authority that the devices trust besides the public ones', readText)
    .addOption(
      number('--speed <n>', "divides the firmware's pauses before it boots, asks or connects again", 1, 1, 1000),
    )
    .addOption(
      new Option('--network <kind>', 'cellular devices come back after a minute only')
        .choices(['wifi', 'cellular'])
        .default('wifi'),
    );
  return describeBoards(describeDevices(describeHub(command, env)));
}

function describeHub(command: Command, env: NodeJS.ProcessEnv): Command {
  return command
    .option('--host <host>', "the hub's address", '127.0.0.1')
    .addOption(number('--mqtt-port <port>', "the hub's MQTT port", 1883, 1, 65_535))
    .addOption(number('--http-port <port>', "the hub's HTTP port, for WebSocket", 8080, 1, 65_535))
    .addOption(
      new Option(
        '--secret <secret>',
        'the fleet-wide device secret of --direct (default: device.secret in the data folder)',
      ).env('FLOTILLA_DEVICE_SECRET'),
    )
    .option(
      '--data-dir <folder>',
      "the hub's data folder: its secret for --direct, and the flash of devices otherwise",
      env['FLOTILLA_DATA_DIR'] ?? './.flotilla',
    );
}

function describeDevices(command: Command): Command {
  return command
    .addOption(number('--rate <n>', 'devices connecting per second, 0 for all at once', 0, 0, DEVICES_MAX))
    .addOption(number('--seed <n>', 'the same seed gives the same devices', 1, 0, 65_535))
    .addOption(number('--answer-delay-ms <ms>', 'how long each tool runs', 0, 0, 3_600_000))
    .addOption(
      number(
        '--reconnect-ms <ms>',
        'pause after a lost connection, or between conversations over WebSocket',
        undefined,
        0,
        3_600_000,
      ),
    )
    .addOption(
      number(
        '--boot-ms <ms>',
        'from a restart to the OTA request, or to the connection without one',
        undefined,
        0,
        3_600_000,
      ),
    )
    .addOption(number('--keep-alive-seconds <s>', 'MQTT keep-alive, 0 for none', 45, 0, 65_535))
    .addOption(
      new Option('--mqtt-level <level>', 'MQTT protocol level: 4 is 3.1.1, 3 is 3.1').choices(['3', '4']).default('4'),
    )
    .addOption(
      number(
        '--local-addresses <n>',
        'spread over this many loopback source addresses, 0 for as many as needed',
        0,
        0,
        254,
      ),
    )
    .addOption(
      number(
        '--download-kib-per-second <n>',
        'how fast each device reads firmware and assets, 0 for no limit',
        0,
        0,
        1_000_000,
      ),
    );
}

function describeBoards(command: Command): Command {
  return command
    .addOption(number('--mcpu <n>', 'MCP/U microcontrollers that wait to be dialled over TCP', 0, 0, BOARDS_MAX))
    .addOption(
      number(
        '--mcpu-faulty <n>',
        'further ones that stay mute, send garbage, flood or close, in turn',
        0,
        0,
        BOARDS_MAX,
      ),
    )
    .option('--mcpu-host <address>', 'the address that microcontrollers listen on', '127.0.0.1')
    .addOption(
      number(
        '--mcpu-port <port>',
        'port of the first microcontroller, the others follow; 0 for any that are free',
        0,
        0,
        65_535,
      ),
    )
    .option(
      '--mcpu-credentials <file>',
      'JSON list of credentials as registerDevices gave them: one microcontroller each, which comes by itself',
      readCredentials,
    )
    .option('--behaviour <json>', 'a lasting behaviour of every device; may be given several times', addBehaviour)
    .option('--knob <turns>', 'a knob that people turn: volume:6 (per hour) or brightness@22:00=80 (UTC)', addKnob)
    .addOption(number('--knob-devices <n>', 'so many devices have such knobs', DEVICES_MAX, 0, DEVICES_MAX))
    .option(
      '--json',
      'talk JSON lines: events on standard output, commands on standard input (see apps/simulator/README.md)',
    );
}

function addBehaviour(text: string, former: readonly LastingBehaviour[] = []): readonly LastingBehaviour[] {
  const parsed = behaviourSchema.safeParse(readJson(text));
  if (!parsed.success)
    throw new InvalidArgumentError(
      `Not a valid behaviour: ${parsed.error.issues.map(({ message }) => message).join('; ')}.`,
    );
  if (!isLasting(parsed.data))
    throw new InvalidArgumentError(`${parsed.data.kind} does not last; give it as a command with --json.`);
  return [...former, parsed.data];
}

function readCredentials(file: string): readonly BoardSettings[] {
  const parsed = boardSettingsSchema.array().safeParse(readJson(readText(file)));
  if (!parsed.success)
    throw new InvalidArgumentError(
      'Expected a JSON list of credentials of MCPU devices with transport WEBSOCKET or MQTT.',
    );
  return parsed.data;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function number(
  flags: string,
  description: string,
  fallback: number | undefined,
  minimum: number,
  maximum: number,
): Option {
  return new Option(flags, description).default(fallback).argParser((text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  });
}
