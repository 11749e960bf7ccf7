/**
 * `flotilla mcp`: the MCP server for hosts that start a program and use its standard input and
 * output.
 */
import type { Argv } from 'yargs';
import { hubAddress } from '../connection.js';
import { exitCodes } from '../exit-codes.js';
import { command, type GlobalArguments } from './command.js';

export function mcpCommand(program: Argv<GlobalArguments>) {
  return program.command(
    'mcp',
    'Run an MCP server with the tools of the fleet, on standard input and output',
    (mcp) =>
      mcp.option('mode', {
        choices: ['auto', 'full', 'compact'] as const,
        default: 'auto' as const,
        describe: 'full: list every tool. compact: list five tools that find and call the others. auto: by fleet size',
      }),
    command(async (args) => {
      const { url, apiKey } = hubAddress(args);
      const mcpUrl = new URL(`${url.replace(/\/+$/, '')}/mcp`);
      mcpUrl.searchParams.set('mode', args.mode);
      // Loaded only here, because loading the SDK takes longer than most commands.
      const { relayAgent } = await import('../mcp-relay/relay-agent.js');
      await relayAgent(mcpUrl, apiKey);
      return exitCodes.done;
    }),
  );
}
