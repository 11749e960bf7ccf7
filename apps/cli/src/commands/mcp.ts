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
    "The fleet's tools for an AI agent, as an MCP server on standard input and output",
    (mcp) =>
      mcp.option('mode', {
        choices: ['auto', 'full', 'compact'] as const,
        default: 'auto' as const,
        describe: 'full lists every tool; compact lists five tools that find and call the others',
      }),
    command(async (args) => {
      const { url, apiKey } = hubAddress(args);
      const door = new URL(`${url.replace(/\/+$/, '')}/mcp`);
      door.searchParams.set('mode', args.mode);
      // Read only where it is needed: the SDK takes longer to load than most commands take.
      const { relayAgent } = await import('../mcp-relay/relay-agent.js');
      await relayAgent(door, apiKey);
      return exitCodes.done;
    }),
  );
}
