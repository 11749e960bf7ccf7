/** Desired states on the built hub, with simulated devices: away, changed by others, compared. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { createDesiredState, readDesiredState } from '../src/jobs/desired-state-api.js';
import { online } from '../src/jobs/job-api.js';

const DEVICES = 8;
const VOLUME = 'self.audio_speaker.set_volume';
const plan = (volume: number, more: Readonly<Record<string, unknown>> = {}) => ({
  name: `volume ${volume}`,
  devices: { hasTool: VOLUME },
  tool: VOLUME,
  arguments: { volume },
  ...more,
});

interface TargetNode {
  readonly state: string;
  readonly since: string;
  readonly device: { readonly id: string; readonly connectedAt: string | null };
}

describe('a desired state', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    hub = await startHub({});
    fleet = startFleet(hub, { devices: DEVICES });
    await online(hub, DEVICES);
  });

  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  async function targetsOf(id: string): Promise<readonly TargetNode[]> {
    const query = `query ($id: ID!) { desiredState(id: $id) {
      targets(first: 100) { nodes { state since device { id connectedAt } } } } }`;
    const answer = await ask<{ desiredState: { targets: { nodes: TargetNode[] } } }>(hub, query, { id });
    return answer.desiredState.targets.nodes;
  }

  const inSync = (id: string) =>
    eventually(
      () => readDesiredState(hub, id),
      ({ summary }) => summary.t99Seconds !== null && summary.inSync === summary.targeted,
      20_000,
    );
  const setsByDevice = async () =>
    Object.fromEntries(
      Object.entries((await fleet.counts()).devices).flatMap(([id, tools]) =>
        tools[VOLUME] === undefined ? [] : [[id, tools[VOLUME]]],
      ),
    );
  const eventTypes = async (id: string) => {
    const query = `query ($id: ID!) { events(filter: { deviceId: $id, types: ["device.drifted", "device.in_sync"] }) {
      nodes { type } } }`;
    const { events } = await ask<{ events: { nodes: { type: string }[] } }>(hub, query, { id });
    return events.nodes.map(({ type }) => type);
  };
  /** Creates a desired state that the test leaves to no other one, also when it fails. */
  async function create(input: ReturnType<typeof plan>, key: string): Promise<string> {
    const { id } = await createDesiredState(hub, input, key);
    onTestFinished(async () => {
      await ask(hub, 'mutation ($id: ID!) { deleteDesiredState(id: $id) { userErrors { code } } }', { id });
    });
    return id;
  }

  it('is set once on each device, and again when a person changed the value', async () => {
    const id = await create(plan(33, { onDrift: 'HOLD', holdSeconds: 3 }), 'once');
    const { summary } = await inSync(id);
    const [first] = await targetsOf(id);
    const deviceId = first?.device.id ?? '';
    expect(new Set(Object.values(await setsByDevice()))).toEqual(new Set([1]));
    expect(Object.keys(await setsByDevice())).toHaveLength(summary.targeted);
    await ask(hub, `mutation ($input: CallToolInput!) { callTool(input: $input) { userErrors { code } } }`, {
      input: { deviceId, tool: VOLUME, arguments: { volume: 90 } },
    });
    await eventually(
      () => readDesiredState(hub, id),
      (state) => state.summary.held === 1,
    );
    await inSync(id);
    expect((await setsByDevice())[deviceId]).toBe(3);
    // The writer of events gathers them; the summary does not wait for it.
    expect(
      await eventually(
        () => eventTypes(deviceId),
        (types) => types.length > 1,
      ),
    ).toEqual(['device.drifted', 'device.in_sync']);
  });

  it('is applied within two seconds to devices that come online', async () => {
    await fleet.stop();
    await online(hub, 0);
    const id = await create(plan(44), 'away');
    await eventually(
      () => readDesiredState(hub, id),
      ({ summary }) => summary.targeted > 0 && summary.waitingDevice === summary.targeted,
    );
    fleet = startFleet(hub, { devices: DEVICES });
    await inSync(id);
    const late = (await targetsOf(id)).map(
      ({ since, device }) => Date.parse(since) - Date.parse(device.connectedAt ?? ''),
    );
    // The listing of the tools is a part of it.
    expect(Math.max(...late)).toBeLessThan(4_000);
  });
});
