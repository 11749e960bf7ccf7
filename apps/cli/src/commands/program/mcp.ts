/**
 * `flotilla mcp`: the MCP server for hosts that start a program and use its standard input and
 * output.
 */
import { hubAddress } from '../../connection.js';
import { exitCodes } from '../../exit-codes.js';
import { leaf } from '../command.js';

export const mcpCommand = leaf({
  usage: 'mcp',
  summary: 'Run an MCP server with the tools of the fleet, on standard input and output',
  examples: ['mcp --mode compact'],
  options: (args) =>
    args.option('mode', {
      choices: ['auto', 'full', 'compact'] as const,
      default: 'auto' as const,
      describe: 'full: list every tool. compact: list ten tools that find and call the others. auto: by fleet size',
    }),
  run: async (args) => {
    const { url, apiKey } = hubAddress(args);
    const mcpUrl = new URL(`${url.replace(/\/+$/, '')}/mcp`);
    mcpUrl.searchParams.set('mode', args.mode);
    // Loaded only here, because loading the SDK takes longer than most commands.
    const { relayAgent } = await import('../../mcp-relay/relay-agent.js');
    await relayAgent(mcpUrl, apiKey);
    return exitCodes.done;
  },
});
