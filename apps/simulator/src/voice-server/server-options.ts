/** The command line of the simulated voice server. */
import { Command, InvalidArgumentError, Option } from 'commander';

const misbehaviours = ['mute', 'late', 'dies', 'stalls', 'floods'] as const;
/**
 * Ignores the hello; answers it after 5 s; ends in the middle of an utterance; stops reading there;
 * sends too many texts.
 */
export type Misbehaviour = (typeof misbehaviours)[number];

interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** Tokens are checked as xiaozhi-esp32-server does, with this as its `server.secret`. */
  readonly signingKey: string | undefined;
  /** Ids of devices that get a bind prompt instead of a hello; `*` for all. */
  readonly notBound: readonly string[];
  readonly misbehaviour: Misbehaviour | undefined;
  /** A tool without arguments that it calls at the beginning of each conversation. */
  readonly tool: string | undefined;
}

export function readServerOptions(argv: readonly string[]): ServerOptions {
  return new Command('simulate:voice')
    .description(
      'Runs a small voice server that says back what it hears, until Ctrl-C. Counts go to standard output as ' +
        'JSON lines when a conversation ends.',
    )
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on, 0 for any that is free', readPort, 8000)
    .option('--token <token>', 'refuse conversations without this bearer token')
    .option('--signing-key <key>', 'check tokens as xiaozhi-esp32-server does, with this as its server.secret')
    .option(
      '--not-bound <ids>',
      'prompt these devices to bind themselves, ids with commas between or * for all',
      readIds,
      [],
    )
    .option('--tool <name>', 'a tool without arguments to call at the beginning of each conversation')
    .addOption(new Option('--misbehaviour <kind>', 'go wrong in this way').choices(misbehaviours))
    .parse(argv)
    .opts<ServerOptions>();
}

function readIds(text: string): readonly string[] {
  return text.split(',').map((id) => id.trim());
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port from 0 to 65535.');
  return Number(text);
}
