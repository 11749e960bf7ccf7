/** `flotilla devices set-transport` and `remove-many`: all devices of a filter. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { DeviceFilter } from '@flotilla/client/schema';
import { withClient } from '../../connection.js';
import { confirm, yesOption } from '../../console/confirm.js';
import { printChange } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { exitCodes } from '../../exit-codes.js';
import { ManyDevicesDocument, RemoveDevicesDocument, SetDevicesTransportDocument } from '../../generated/operations.js';
import { requiredDeviceFilter, withDevices } from '../../options/device-filter.js';
import { leaf } from '../command.js';

export const setTransportCommand = leaf({
  usage: 'set-transport <transport>',
  summary: 'Change how many devices connect, from their next OTA request on',
  examples: ['devices set-transport WEBSOCKET --tag lobby --yes'],
  options: (args) =>
    withDevices(args.positional('transport', { choices: ['MQTT', 'WEBSOCKET'] as const, demandOption: true })).options(
      yesOption,
    ),
  run: (args) => {
    const filter = requiredDeviceFilter(args);
    return withClient(args, async (client) => {
      const { expectedCount, inWords } = await chosen(client, filter);
      if (!(await confirm(`${inWords} will connect over ${args.transport}.`, args))) return exitCodes.refused;
      const input = { filter, transport: args.transport, expectedCount };
      const { setDevicesTransport } = await client.request(SetDevicesTransportDocument, { input });
      const { changedCount, matchedCount } = expectAccepted(setDevicesTransport);
      await printChange({ changedCount, matchedCount }, args);
      return exitCodes.done;
    });
  },
});

export const removeManyCommand = leaf({
  usage: 'remove-many',
  summary: 'Remove all devices of a filter; their credentials end at once',
  examples: ['devices remove-many --tag retired --yes'],
  options: (args) => withDevices(args).options(yesOption),
  run: (args) => {
    const filter = requiredDeviceFilter(args);
    return withClient(args, async (client) => {
      const { expectedCount, inWords } = await chosen(client, filter);
      if (!(await confirm(`${inWords} will be removed and disconnected.`, args))) return exitCodes.refused;
      const { removeDevices } = await client.request(RemoveDevicesDocument, { input: { filter, expectedCount } });
      await printChange({ removedCount: expectAccepted(removeDevices).removedCount }, args);
      return exitCodes.done;
    });
  },
});

/** How many devices match, and the first of them in words. */
async function chosen(client: FlotillaClient, filter: DeviceFilter) {
  const { fleetSummary, devices } = await client.request(ManyDevicesDocument, { filter });
  const expectedCount = fleetSummary.deviceCount;
  const names = devices.nodes.map(({ id, name }) => printable(name ?? id));
  const more = expectedCount > names.length ? ', …' : '';
  const count = `${expectedCount} ${expectedCount === 1 ? 'device' : 'devices'}`;
  return { expectedCount, inWords: names.length === 0 ? count : `${count} (${names.join(', ')}${more})` };
}
