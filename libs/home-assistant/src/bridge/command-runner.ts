/** Carries out commands of Home Assistant as the holder of the bridge's key. */
import { randomUUID } from 'node:crypto';
import { actorOfPrincipal } from '@flotilla/fleet';
import type { Fleet, FleetLogger } from '@flotilla/fleet';
import type { Principal } from '@flotilla/registry';
import { commandOf } from '../mapping/command.js';
import type { HomeCommand } from '../mapping/command.js';
import type { Entity } from '../mapping/entity.js';
import type { HomeDevice } from '../mapping/home-device.js';
import { rightsOf } from './device-reader.js';
import type { DeviceReader } from './device-reader.js';

/** How a command ended: `invalid` payloads and `refused` ones reached no device. */
export type CommandResult = 'succeeded' | 'failed' | 'refused' | 'invalid';

export interface CommandRunnerDeps {
  readonly fleet: Pick<Fleet, 'callTool' | 'createJob'>;
  readonly reader: Pick<DeviceReader, 'newestImage'>;
  readonly logger: FleetLogger;
}

type Call = Extract<HomeCommand, { readonly kind: 'call' }>;

interface CommandEnd {
  readonly result: CommandResult;
  /** Why it did not succeed. */
  readonly reason?: string | undefined;
  /** The call that succeeded. */
  readonly call?: Call;
}

export class CommandRunner {
  constructor(private readonly deps: CommandRunnerDeps) {}

  /** Never rejects. */
  async run(device: HomeDevice, entity: Entity, payload: string, principal: Principal): Promise<CommandEnd> {
    const end = await this.#run(device, commandOf(entity, payload), principal).catch((error: unknown): CommandEnd => ({
      result: 'failed',
      reason: error instanceof Error ? error.message : String(error),
    }));
    const { result, reason } = end;
    const details = { deviceId: device.id, entity: entity.key, result, reason };
    if (result !== 'succeeded') this.deps.logger.warn(details, 'a command of Home Assistant did not succeed');
    return end;
  }

  async #run(device: HomeDevice, command: HomeCommand, principal: Principal): Promise<CommandEnd> {
    switch (command.kind) {
      case 'invalid':
        return { result: 'invalid', reason: command.message };
      case 'install':
        return this.#install(device, principal);
      case 'call':
        return this.#call(device, command, principal);
    }
  }

  async #call(device: HomeDevice, command: Call, principal: Principal): Promise<CommandEnd> {
    if (!rightsOf(principal).mayCall) return { result: 'refused', reason: 'The key needs the scope TOOLS_CALL.' };
    const request = { deviceId: device.id, tool: command.tool, arguments: command.arguments };
    const { call, refusal } = await this.deps.fleet.callTool(request, actorOfPrincipal(principal));
    if (refusal !== undefined) return { result: 'refused', reason: refusal.message };
    const hasRestarted = command.endsSession && call?.error?.code === 'SESSION_CLOSED';
    if (call?.outcome === 'SUCCEEDED' || hasRestarted) return { result: 'succeeded', call: command };
    return { result: 'failed', reason: call?.error?.message ?? call?.outcome };
  }

  async #install({ id, firmwareVersion, latestVersion, model }: HomeDevice, principal: Principal): Promise<CommandEnd> {
    if (!rightsOf(principal).mayUpdate)
      return {
        result: 'refused',
        reason: 'The key needs the scopes TOOLS_CALL, TOOLS_CALL_PRIVILEGED, FIRMWARE_WRITE and JOBS_WRITE.',
      };
    // Then the newest image may be older than what runs.
    if (latestVersion !== undefined && latestVersion === firmwareVersion)
      return { result: 'refused', reason: 'The device runs the newest firmware already.' };
    const image = model === undefined ? undefined : await this.deps.reader.newestImage(model);
    if (image === undefined) return { result: 'refused', reason: 'There is no published image for the board.' };
    const request = { name: 'Home Assistant', firmwareImageId: image.id, devices: { ids: [id] } };
    const { refusal } = await this.deps.fleet.createJob(request, randomUUID(), actorOfPrincipal(principal));
    return refusal === undefined ? { result: 'succeeded' } : { result: 'refused', reason: refusal.message };
  }
}
