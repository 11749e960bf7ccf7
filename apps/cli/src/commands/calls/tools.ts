/** `flotilla tools`. */
import { found } from '../../found.js';
import { DeviceToolsDocument, FleetToolsDocument } from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { argumentsInWords } from '../../tools/tool-schema.js';
import { hubLeaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { textOption } from '../../options/shared-options.js';

export const toolsCommand = hubLeaf({
  usage: 'tools [device]',
  values: ['device'],
  summary: 'List the tools of a device, or all tools of the fleet with the number of devices',
  examples: ['tools 02:00:00:00:00:01', 'tools --search volume'],
  options: (args) =>
    withListOptions(args)
      .positional('device', { type: 'string', describe: 'Id of the device' })
      .option('search', textOption('Part of the name or description')),
  run: (args, client) => {
    const { device: id, search } = args;
    if (id === undefined) {
      const filter = search === undefined ? {} : { search };
      return printList(
        () => eachNode(async (page) => (await client.request(FleetToolsDocument, { filter, ...page })).tools),
        [
          { key: 'name', head: 'TOOL' },
          { key: 'deviceCount', head: 'DEVICES' },
          { key: 'arguments', of: argumentsOf },
          'userOnly',
        ],
        args,
      );
    }
    const read = async () =>
      found((await client.request(DeviceToolsDocument, { id })).device, 'Device', id).tools.filter(
        ({ name, description }) => `${name} ${description}`.toLowerCase().includes((search ?? '').toLowerCase()),
      );
    return printList(
      () => rowsOf(read()),
      [
        { key: 'name', head: 'TOOL' },
        { key: 'arguments', of: argumentsOf },
        'userOnly',
        { key: 'disruptive', of: ({ policy }) => policy.disruptive },
      ],
      args,
    );
  },
});

function argumentsOf(tool: { readonly inputSchema: unknown; readonly schemaKnown: boolean }): string {
  return tool.schemaKnown ? argumentsInWords(tool.inputSchema) : 'unknown';
}
