/** `flotilla call`. */
import { exitCodeOfCall, printOutcome } from '../../tools/call-outcome.js';
import { withClient } from '../../connection.js';
import { isConfirmed, yesOption } from '../../console/confirm.js';
import { exitCodes } from '../../exit-codes.js';
import { sendUnkeyed } from '../../lost-answer.js';
import { durationOption } from '../../options/duration-option.js';
import { argumentsForDevice, argumentsOption, givenArguments } from '../../tools/tool-arguments.js';
import { leaf } from '../command.js';
import { textOption } from '../../options/shared-options.js';

export const callCommand = leaf({
  usage: 'call <device> <tool> [arguments..]',
  values: ['device', 'tool'],
  summary: 'Call one tool on one device and print the response',
  examples: [
    'call 02:00:00:00:00:01 self.audio_speaker.set_volume volume=30',
    'call 02:00:00:00:00:01 self.audio_speaker.set_volume \'{"volume":30}\'',
  ],
  options: (args) =>
    args
      .positional('device', { type: 'string', demandOption: true, describe: 'Id of the device' })
      .positional('tool', { type: 'string', demandOption: true })
      .positional('arguments', argumentsOption)
      .option(
        'timeout',
        durationOption('timeout', 'How long to wait for the device', {
          plain: 's',
          min: '1s',
          max: '5m',
          isFraction: true,
        }),
      )
      .option(
        'idempotency-key',
        textOption('A repeated call with the same key returns the first outcome and sends nothing'),
      )
      .options(yesOption),
  run: async (args) => {
    const given = await givenArguments(args.arguments);
    return withClient(args, async (client) => {
      const { device: deviceId, tool } = args;
      const toolArguments = await argumentsForDevice(client, deviceId, tool, given);
      if (!(await isConfirmed(client, tool, `on ${deviceId}`, args))) return exitCodes.refused;
      const call = {
        deviceId,
        tool,
        arguments: toolArguments,
        ...(args.timeout === undefined ? {} : { timeoutMs: Math.round(args.timeout * 1_000) }),
        ...(args.idempotencyKey === undefined ? {} : { idempotencyKey: args.idempotencyKey }),
      };
      const sent = client.callTool(call);
      // With a key, the same command may be repeated: the hub sends nothing a second time.
      const outcome = await (args.idempotencyKey === undefined ? sendUnkeyed(sent) : sent);
      await printOutcome(outcome, args);
      return exitCodeOfCall(outcome);
    });
  },
});
