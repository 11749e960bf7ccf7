/** A hub for stories about agents: two lamps, a device with a camera, and a microcontroller. */
import { randomUUID } from 'node:crypto';
import { Client as PgClient } from 'pg';
import { expect } from 'vitest';
import { ask } from '../api/graphql-client.js';
import { McpuBoard } from '../devices/mcpu-board.js';
import { startFleet } from '../devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../hub/hub-process.js';
import { openTestDatabase } from '../hub/test-database.js';
import { online } from '../jobs/job-api.js';
import { AgentBoards } from './agent-boards.js';
import { insertKey, type KeyLimits } from './agent-keys.js';
import { cameraId, connectEverythingDevice } from './everything-device.js';

export interface AgentStage {
  readonly hub: HubProcess;
  readonly pg: PgClient;
  /** The ids of the lamps. */
  readonly lamps: readonly string[];
  /** The first is `greenhouse-1`. */
  readonly boards: AgentBoards;
  /** Makes a key and returns its secret. */
  keyWith(scopes: readonly string[], limits?: KeyLimits): Promise<string>;
  close(): Promise<void>;
}

export async function openAgentStage(): Promise<AgentStage> {
  const database = await openTestDatabase();
  const hub = await startHub({ env: { DATABASE_URL: database.url, FLOTILLA_ADMIN_KEY: `admin-${randomUUID()}` } });
  const boards = new AgentBoards(hub);
  const pg = new PgClient({ connectionString: database.url });
  await pg.connect();
  const camera = await connectEverythingDevice(hub, cameraId);
  const fleet = startFleet(hub, { devices: 2, profile: 'lamp' });
  await online(hub, 3);
  const query = '{ devices(first: 3) { nodes { id } } }';
  const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(hub, query);
  const lamps = devices.nodes.map(({ id }) => id).filter((id) => id !== cameraId);
  await boards.add('greenhouse-1', await McpuBoard.boot());
  return {
    hub,
    pg,
    lamps,
    boards,
    keyWith: (scopes, limits) => insertKey(pg, scopes, limits),
    close: async () => {
      boards.stop();
      camera.drop();
      await fleet.stop();
      await pg.end();
      expect(await hub.stop()).toBe(0);
      expect(hub.log()).not.toMatch(/unhandled|failed inside/i);
      removeDataDir(hub.dataDir);
      await database.close();
    },
  };
}
