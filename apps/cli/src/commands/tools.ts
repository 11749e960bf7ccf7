/** `flotilla tools` and `flotilla call`. */
import type { Argv } from 'yargs';
import { FlotillaError, type CallOutcomeFragment } from '@flotilla/client';
import { withClient } from '../connection.js';
import { isConfirmed, yesOption } from '../console/confirm.js';
import { printRows, printThing, say, write } from '../console/output.js';
import { printable } from '../console/printable.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { DeviceToolsDocument, FleetToolsDocument } from '../generated/operations.js';
import { toolArguments } from '../json-input.js';
import { eachNode, upTo } from '../pages.js';
import { command, limitOption, type GlobalArguments } from './command.js';
import { numberOption } from '../number-option.js';

export function toolsCommand(program: Argv<GlobalArguments>) {
  return program.command(
    'tools [device]',
    'List the tools of a device, or all tools of the fleet with the number of devices',
    (tools) =>
      tools
        .positional('device', { type: 'string' })
        .option('search', { type: 'string', requiresArg: true, describe: 'Part of the name or description' })
        .option('limit', limitOption()),
    command((args) =>
      withClient(args, async (client) => {
        const { device: id, search } = args;
        if (id === undefined) {
          const filter = search === undefined ? {} : { search };
          const found = eachNode(async (page) => (await client.request(FleetToolsDocument, { filter, ...page })).tools);
          return printRows(
            upTo(args.limit, found),
            [
              { head: 'TOOL', of: ({ name }) => name },
              { head: 'DEVICES', of: ({ deviceCount }) => deviceCount },
              { head: 'ARGUMENTS', of: ({ inputSchema }) => argumentsOf(inputSchema) },
              { head: 'USER ONLY', of: ({ userOnly }) => (userOnly ? 'yes' : '') },
            ],
            args,
          );
        }
        const { device } = await client.request(DeviceToolsDocument, { id });
        if (device === null) throw new FlotillaError('NOT_FOUND', `Device not found: "${id}".`);
        const wanted = device.tools.filter(({ name, description }) =>
          `${name} ${description}`.toLowerCase().includes((search ?? '').toLowerCase()),
        );
        await printRows(
          wanted,
          [
            { head: 'TOOL', of: ({ name }) => name },
            {
              head: 'ARGUMENTS',
              of: ({ inputSchema, schemaKnown }) => (schemaKnown ? argumentsOf(inputSchema) : 'unknown'),
            },
            { head: 'USER ONLY', of: ({ userOnly }) => (userOnly ? 'yes' : '') },
            { head: 'DISRUPTIVE', of: ({ policy }) => (policy.disruptive ? 'yes' : '') },
          ],
          args,
        );
      }),
    ),
  );
}

/** Such as "volume:integer, name:string?". */
function argumentsOf(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return '';
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties ?? {})
    .map(([name, property]) => `${name}:${typeOf(property)}${required.includes(name) ? '' : '?'}`)
    .join(', ');
}

function typeOf(property: unknown): string {
  return typeof property === 'object' && property !== null && 'type' in property ? String(property.type) : 'any';
}

export function callCommand(program: Argv<GlobalArguments>) {
  return program.command(
    'call <device> <tool> [arguments]',
    'Call one tool on one device and print the response',
    (call) =>
      call
        .positional('device', { type: 'string', demandOption: true })
        .positional('tool', { type: 'string', demandOption: true })
        .positional('arguments', { type: 'string', describe: 'JSON object, or - for standard input' })
        .option(
          'timeout',
          numberOption('timeout', 'Seconds to wait for the device', { min: 1, max: 300, isFraction: true }),
        )
        .option('idempotency-key', {
          type: 'string',
          requiresArg: true,
          describe: 'A repeated call with the same key returns the first outcome and sends nothing',
        })
        .options(yesOption)
        .example('$0 call 02:00:00:00:00:01 self.audio_speaker.set_volume \'{"volume":30}\'', ''),
    command((args) =>
      withClient(args, async (client) => {
        const given = await toolArguments(args.arguments);
        if (!(await isConfirmed(client, args.tool, `on ${args.device}`, args))) return exitCodes.refused;
        const outcome = await client.callTool({
          deviceId: args.device,
          tool: args.tool,
          arguments: given,
          ...(args.timeout === undefined ? {} : { timeoutMs: Math.round(args.timeout * 1_000) }),
          ...(args.idempotencyKey === undefined ? {} : { idempotencyKey: args.idempotencyKey }),
        });
        await printOutcome(outcome, args);
        return exitCodeOfCall(outcome);
      }),
    ),
  );
}

/** Standard output gets only the answer of the device, for pipes. */
async function printOutcome(outcome: CallOutcomeFragment, args: GlobalArguments): Promise<void> {
  if (args.json === true) return printThing(outcome, args);
  const { result, error } = outcome;
  if (outcome.outcome !== 'SUCCEEDED')
    say(`${outcome.outcome ?? 'no outcome'}${error ? ` ${error.code}: ${printable(error.message)}` : ''}`);
  const text = result?.text ?? (result ? JSON.stringify(result.content) : undefined);
  if (text !== undefined) await write(`${text.split('\n').map(printable).join('\n')}\n`);
}

function exitCodeOfCall({ outcome }: CallOutcomeFragment): ExitCode {
  if (outcome === 'SUCCEEDED') return exitCodes.done;
  return outcome === 'REJECTED' || outcome === 'NOT_SENT' ? exitCodes.refused : exitCodes.targetsFailed;
}
