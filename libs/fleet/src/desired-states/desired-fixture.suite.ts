/** A worker of desired states over the fleet fixture, and devices with a volume. */
import { randomUUID } from 'node:crypto';
import type { Entry } from '@flotilla/desired-state';
import type { DeviceId } from '@flotilla/mcp';
import type { DesiredStateRow, DesiredTargetRow, DeviceFilter, Scope } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { noApprovals } from '../approvals/approval-rules.js';
import { CallRules } from '../calls/call-rules.js';
import { answers, openHub, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import type { DesiredStateRunnerDeps } from './controller/controller-deps.js';
import { DesiredStateRunner } from './controller/desired-state-runner.js';
import type { DesiredStateRequest } from './desired-state-request.js';

export const VOLUME = 'self.audio_speaker.set_volume';
const STATUS = 'self.get_device_status';

export interface DesiredFixture {
  readonly hub: HubProcess;
  readonly fixture: HubFixture;
  /** The volume of each device, and how often it was set. */
  readonly volumes: Map<string, number>;
  readonly sets: Map<string, number>;
  /** What a worker in that process is given. */
  runnerDeps(hub?: HubProcess): DesiredStateRunnerDeps;
  openRunner(hub?: HubProcess): DesiredStateRunner;
  makeActor(scopes?: readonly Scope[], devices?: DeviceFilter): Promise<Actor & { readonly keyId: string }>;
  save(change: Partial<DesiredStateRequest>, actor?: Actor): Promise<DesiredStateRow>;
  /** The row as it is now. */
  row(state: DesiredStateRow): Promise<DesiredStateRow>;
  targets(state: DesiredStateRow): Promise<readonly DesiredTargetRow[]>;
  /** The states of all entries, by device id. */
  states(state: DesiredStateRow): Promise<Readonly<Record<string, Entry['state']>>>;
  /** A person turns the knob, and the device reports it. */
  turn(deviceId: string, volume: number): Promise<void>;
  close(): Promise<void>;
}

export const requestOf = (change: Partial<DesiredStateRequest> = {}): DesiredStateRequest => ({
  name: randomUUID(),
  devices: { all: true },
  tool: VOLUME,
  arguments: { volume: 30 },
  mode: 'ENFORCE',
  onDrift: 'HOLD',
  holdSeconds: 1_800,
  priority: 0,
  window: undefined,
  waves: undefined,
  abort: undefined,
  maxInFlight: 200,
  perMinute: undefined,
  enabled: true,
  ...change,
});

export async function openDesiredFixture(): Promise<DesiredFixture> {
  const fixture = await openHub();
  const { hub } = fixture;
  const runners: DesiredStateRunner[] = [];
  const volumes = new Map<string, number>();
  const sets = new Map<string, number>();
  serveVolumes(hub, volumes, sets);
  const makeActor: DesiredFixture['makeActor'] = async (scopes = ['JOBS_WRITE', 'TOOLS_CALL'], devices) => {
    const change = { keysMax: 1_000, at: hub.clock.now(), by: { actor: 'spec' } };
    const key = { name: 'operator', scopes, devices, expiresAt: undefined };
    const made = await hub.registry.apiKeys.create(key, change);
    if (made.kind !== 'created') throw new TypeError(made.kind);
    const { id: keyId } = made.key;
    const rights = { mayCallTools: true, mayCallUserOnly: false, mayChangeFirmware: false };
    return { id: `KEY:${keyId}`, name: 'operator', keyId, devices, ...rights };
  };
  const owner = await makeActor();
  const runnerDeps: DesiredFixture['runnerDeps'] = ({ registry, bus, clock, lease, singleCalls } = hub) => ({
    registry,
    bus,
    clock,
    lease,
    singleCalls,
    logger: silent,
    callRules: new CallRules([]),
    approvals: noApprovals,
    mustBeSigned: false,
    timeZone: 'UTC',
    chance: () => 0,
  });
  const targets: DesiredFixture['targets'] = async ({ id }) =>
    (await hub.registry.desiredStates.targets(id, undefined, { first: 1_000 })).rows;
  return {
    fixture,
    hub,
    volumes,
    sets,
    makeActor,
    targets,
    runnerDeps,
    openRunner: (process = hub) => {
      const runner = new DesiredStateRunner(runnerDeps(process));
      runners.push(runner);
      return runner;
    },
    save: async (change, actor = owner) => {
      const saved = await hub.fleet.createDesiredState(requestOf(change), randomUUID(), actor);
      if ('refusal' in saved) throw new TypeError(saved.refusal.message);
      return saved.state;
    },
    row: async ({ id }) => {
      const found = await hub.registry.desiredStateStore.find(id);
      if (found === undefined) throw new TypeError(`There is no desired state ${id}.`);
      return found;
    },
    states: async (state) =>
      Object.fromEntries((await targets(state)).map(({ deviceId, state: name }) => [deviceId, name])),
    turn: async (deviceId, volume) => {
      volumes.set(deviceId, volume);
      const epoch = hub.gateway.epochs.get(deviceId as DeviceId) ?? 0;
      const state = { audio_speaker: { volume } };
      await hub.registry.devices.report({
        deviceId: deviceId as DeviceId,
        epoch,
        tool: STATUS,
        state,
        at: hub.clock.now(),
      });
      hub.bus.feed.publish('device', { deviceId: deviceId as DeviceId });
    },
    close: async () => {
      for (const runner of runners) await hub.clock.during(runner.stop());
      await fixture.close();
    },
  };
}

/** Devices answer after 5 ms, as one that is called does. */
export function serveVolumes(hub: HubProcess, volumes: Map<string, number>, sets: Map<string, number>): void {
  hub.gateway.behave = ({ call, deviceId }, settle) => {
    hub.clock.setTimer(5, () => {
      if (call.tool === VOLUME) {
        volumes.set(deviceId, call.arguments['volume'] as number);
        sets.set(deviceId, (sets.get(deviceId) ?? 0) + 1);
        return settle(answers('true'));
      }
      settle(answers(JSON.stringify({ audio_speaker: { volume: volumes.get(deviceId) ?? 50 } })));
    });
  };
}
