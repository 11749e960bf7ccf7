/** One hub with two simulated lamps, and the command line against it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { flotilla, type CommandOptions, type CommandOutcome } from '../api/command-line.js';
import { ask } from '../api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../hub/hub-process.js';
import { online } from '../jobs/job-api.js';

export const lampOn = 'self.lamp.turn_on';

export interface CommandLineStory {
  readonly hub: HubProcess;
  readonly fleet: SimulatedFleet;
  /** The id of one of the lamps. */
  readonly lamp: string;
  readonly folder: string;
  readonly run: (args: readonly string[], options?: CommandOptions) => Promise<CommandOutcome>;
  /** Writes a file into the folder of the story. */
  readonly fileOf: (name: string, content: string | Uint8Array) => string;
  /** Returns the exit code of the hub. */
  readonly end: () => Promise<number | null>;
}

/** The lamps boot `speed` times as fast as the firmware does. */
export async function startCommandLineStory(
  env: Readonly<Record<string, string>> = {},
  speed = 1,
): Promise<CommandLineStory> {
  const hub = await startHub({ env });
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-command-line-'));
  const fleet = startFleet(hub, { devices: 2, profile: 'lamp', args: ['--speed', String(speed)] });
  await online(hub, 2);
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
    hub,
    '{ devices(first: 1) { nodes { id } } }',
  );
  return {
    hub,
    fleet,
    folder,
    lamp: devices.nodes[0]?.id ?? '',
    run: (args, options) => flotilla(hub, args, options),
    fileOf: (name, content) => {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      return file;
    },
    end: async () => {
      await fleet.stop();
      const exitCode = await hub.stop();
      removeDataDir(hub.dataDir);
      rmSync(folder, { recursive: true });
      return exitCode;
    },
  };
}
