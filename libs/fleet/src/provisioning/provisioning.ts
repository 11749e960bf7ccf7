/**
 * Registers, approves and removes devices, creates links and credentials. Each change is one
 * statement of the registry and one event without secrets. Credentials go only to the caller, once.
 */
import type { Bus } from '@flotilla/bus';
import { deviceIdOf, type DeviceId, type IncomingTransport } from '@flotilla/mcp';
import type {
  ApprovalRequest,
  BlockedBoardRow,
  DeviceRow,
  EventType,
  EnrolmentLinkRow,
  KnownDevice,
  NewEnrolmentLink,
  Registry,
} from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { FleetError } from '../fleet-error.js';
import type { FleetLogger } from '../fleet-logger.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { writeEvent } from '../write-event.js';
import { ManyDevices } from './many-devices.js';
import { refusedAddresses } from './check-addresses.js';
import type { AddressRules, PlacedDevice } from './check-addresses.js';
import { checkRegistrations, parseRegistrations, refuseNumber } from './parse-registrations.js';
import type { Registration } from './parse-registrations.js';
import { refuseApproval } from './refuse-approval.js';
import { parseBlock, type BlockRequest } from './refuse-block.js';
import { refuseAnotherLink, refuseLink } from './refuse-link.js';
import { SessionEnds } from './session-ends.js';

export interface ProvisioningDeps extends AddressRules {
  readonly registry: Pick<Registry, 'credentials' | 'enrolments' | 'events' | 'viewFor'>;
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
}

interface RegisteredDevice {
  readonly device: DeviceRow;
  /** With its secret; undefined for a device that the hub dials. */
  readonly known: KnownDevice | undefined;
}

type Refused = { readonly refusal: Refusal };

/** How codes are shown. Anything else cannot be one, and is no attempt at guessing. */
const codePattern = /^[0-9]{6}$/;

export class Provisioning {
  /** Changes of many devices by a filter. */
  readonly many: ManyDevices;
  readonly #sessionEnds: SessionEnds;

  constructor(private readonly deps: ProvisioningDeps) {
    this.#sessionEnds = new SessionEnds(deps);
    this.many = new ManyDevices(deps, this.#sessionEnds);
  }

  /** Gives up the sessions that could not be ended yet. */
  stop(): void {
    this.#sessionEnds.stop();
  }

  /** All or none. `path` leads to the list. */
  async registerDevices(
    registrations: readonly Registration[],
    path: readonly string[],
    actor: Actor,
  ): Promise<{ readonly registered: readonly RegisteredDevice[] } | Refused> {
    const parsed = parseRegistrations(registrations, path, this.deps.clock.now());
    if ('refusal' in parsed) return parsed;
    const addresses = parsed.devices.map((device, index) => ({ device, at: [...path, String(index), 'address'] }));
    const { value: refusal } = await refusedAddresses(this.deps, addresses, path, actor).next();
    if (refusal !== undefined) return { refusal };
    const devices = parsed.devices.map((device) => ({
      ...device,
      dialByAdmin: device.address !== undefined && actor.isAdmin === true,
    }));
    const answer = await this.deps.registry.enrolments.register(devices, sourceOf(actor), actor.devices);
    if (answer.kind === 'beyond') {
      throw new FleetError(
        'FORBIDDEN',
        `This key cannot register "${answer.deviceId}". ` +
          'The device would be outside the device filter of the key, or a key for all devices must register it. ' +
          'No device was registered.',
      );
    }
    if (answer.kind === 'conflict') {
      const index = parsed.devices.findIndex(({ deviceId }) => deviceId === answer.conflicts[0]);
      const count = String(answer.conflicts.length);
      const first = answer.conflicts[0] ?? '';
      const message = `${count} of these devices exist already, first "${first}". None was registered.`;
      return { refusal: refuse('CONFLICT', [...path, String(index), 'deviceId'], message) };
    }
    for (const { device } of answer.devices) this.#writeEvent('device.registered', device.id, { actor: actor.name });
    return { registered: answer.devices };
  }

  /** What `registerDevices` would refuse, of every device. Registers none. */
  async previewRegistration(
    registrations: readonly Registration[],
    path: readonly string[],
    actor: Actor,
  ): Promise<readonly Refusal[]> {
    const number = refuseNumber(registrations.length, path);
    if (number !== undefined) return [number];
    const { devices, problems } = checkRegistrations(registrations, path, this.deps.clock.now());
    const view = this.deps.registry.viewFor(actor);
    const known = await view.devices.findMany(devices.map(({ device }) => device.deviceId));
    const found = [...problems];
    const fresh: PlacedDevice[] = [];
    for (const [place, { index, device }] of devices.entries()) {
      const at = [...path, String(index)];
      if (known[place] === undefined) fresh.push({ device, at: [...at, 'address'] });
      else found.push(refuse('CONFLICT', [...at, 'deviceId'], `"${device.deviceId}" is registered already.`));
    }
    for await (const refusal of refusedAddresses(this.deps, fresh, path, actor)) found.push(refusal);
    return found;
  }

  /** Removes a device with its credentials, and ends its session. Its records stay. */
  async removeDevice(deviceId: string, actor: Actor): Promise<{ readonly deviceId: DeviceId } | Refused> {
    if (!(await this.#isSeen(deviceId, actor))) return { refusal: noSuchDevice(deviceId) };
    const removed = await this.deps.registry.enrolments.remove(deviceId, sourceOf(actor));
    if (removed === undefined) return { refusal: noSuchDevice(deviceId) };
    await this.#sessionEnds.end(removed);
    this.#writeEvent('device.removed', removed.id, { actor: actor.name });
    return { deviceId: removed.id };
  }

  /** The former credential works until the device has used the new one, or for a day. */
  async rotateDeviceCredential(deviceId: string, actor: Actor): Promise<{ readonly known: KnownDevice } | Refused> {
    const { registry, clock } = this.deps;
    if (!(await this.#isSeen(deviceId, actor))) return { refusal: noSuchDevice(deviceId) };
    const issued = await registry.credentials.rotate(deviceId, clock.now(), sourceOf(actor));
    const known = issued && (await registry.credentials.findKnown(deviceId));
    if (known === undefined)
      return { refusal: (await this.refuseDialled(deviceId, ['deviceId'], actor)) ?? noSuchDevice(deviceId) };
    this.#writeEvent('credential.rotated', known.deviceId, { actor: actor.name });
    return { known };
  }

  /**
   * A device that the hub dials has no credential and no choice of transport. Undefined also for a
   * device outside the access scope.
   */
  async refuseDialled(deviceId: string, path: readonly string[], actor: Actor): Promise<Refusal | undefined> {
    if (!(await this.deps.registry.credentials.isDialled(deviceId)) || !(await this.#isSeen(deviceId, actor)))
      return undefined;
    const message =
      `The hub dials "${deviceId}" at its address, so it has no credential and no choice of transport. ` +
      'To let it connect itself, remove it and register it with transport WEBSOCKET or MQTT.';
    return refuse('INVALID', path, message);
  }

  /**
   * Sets the transport of the next OTA answer. A used secret is replaced, as devices keep it only
   * for the old transport [xiaozhi §7.3]; microcontrollers keep theirs [mcpu §6.1].
   */
  async setDeviceTransport(deviceId: string, transport: IncomingTransport, actor: Actor): Promise<Partial<Refused>> {
    if (await this.deps.registry.credentials.setTransport(deviceId, transport, sourceOf(actor))) return {};
    const dialled = await this.refuseDialled(deviceId, ['input', 'transport'], actor);
    return { refusal: dialled ?? noSuchDevice(deviceId, ['input', 'deviceId']) };
  }

  /** Approves the device that shows this code. */
  async approveEnrolment(
    request: Omit<ApprovalRequest, 'approver' | 'at'>,
    actor: Actor,
  ): Promise<{ readonly device: DeviceRow } | Refused> {
    if (!codePattern.test(request.code))
      return { refusal: refuse('INVALID', ['code'], 'A code has six digits, as the device shows it.') };
    const { registry, clock } = this.deps;
    const approval = await registry.enrolments.approve(
      { ...request, approver: actor.id, at: clock.now() },
      sourceOf(actor),
    );
    if (approval.kind !== 'approved') return { refusal: refuseApproval(approval) };
    const { device, hasReplaced } = approval;
    if (hasReplaced) await this.#sessionEnds.end(device);
    this.#writeEvent('enrolment.approved', device.id, { by: 'code', actor: actor.name, replaces: hasReplaced });
    return { device };
  }

  async rejectEnrolment(id: string, actor: Actor): Promise<{ readonly deviceId: DeviceId } | Refused> {
    const deviceId = await this.deps.registry.enrolments.reject(id, sourceOf(actor));
    if (deviceId === undefined) return { refusal: refuse('NOT_FOUND', ['id'], `No enrolment "${id}" waits.`) };
    this.#writeEvent('enrolment.rejected', deviceId, { actor: actor.name });
    return { deviceId };
  }

  /**
   * Keeps a board from being admitted, without a sign: it waits like others. A device that
   * proves its Client-Id stays.
   */
  async blockBoard(request: BlockRequest, actor: Actor): Promise<{ readonly board: BlockedBoardRow } | Refused> {
    const { registry, clock } = this.deps;
    const now = clock.now();
    const parsed = parseBlock(request, now);
    if ('refusal' in parsed) return parsed;
    const block = {
      deviceId: parsed.deviceId,
      blockedBy: actor.name,
      blockedAt: now,
      blockedUntil: request.until,
    };
    const board = await registry.enrolments.block(block, sourceOf(actor));
    if (board === 'full') {
      const message = 'The list of blocked boards is full (10000). Unblock some, or block for a limited time.';
      return { refusal: refuse('LIMIT_EXCEEDED', ['deviceId'], message) };
    }
    const until = request.until === undefined ? null : new Date(request.until).toISOString();
    this.#writeEvent('board.blocked', board.deviceId, { actor: actor.name, until });
    return { board };
  }

  async unblockBoard(deviceId: string, actor: Actor): Promise<{ readonly deviceId: DeviceId } | Refused> {
    const unblocked = await this.deps.registry.enrolments.unblock(deviceIdOf(deviceId), sourceOf(actor));
    if (unblocked === undefined)
      return { refusal: refuse('NOT_FOUND', ['deviceId'], `The board "${deviceId.slice(0, 80)}" is not blocked.`) };
    this.#writeEvent('board.unblocked', unblocked, { actor: actor.name });
    return { deviceId: unblocked };
  }

  /** The token is the caller's alone: the registry keeps its hash. */
  async createEnrolmentLink(
    request: NewEnrolmentLink,
    path: readonly string[],
    actor: Actor,
  ): Promise<{ readonly link: EnrolmentLinkRow; readonly token: string } | Refused> {
    const { registry, clock } = this.deps;
    const now = clock.now();
    const refusal = refuseLink(request, path, now) ?? refuseAnotherLink(await registry.enrolments.links(), now);
    if (refusal !== undefined) return { refusal };
    const { link, token } = await registry.enrolments.createLink(request, sourceOf(actor));
    const { id, name, maxDevices } = link;
    this.#writeEvent('enrolment_link.created', undefined, { actor: actor.name, id, name, maxDevices });
    return { link, token };
  }

  /** No further device comes in by it; those that did stay. */
  async revokeEnrolmentLink(id: string, actor: Actor): Promise<{ readonly link: EnrolmentLinkRow } | Refused> {
    const { registry, clock } = this.deps;
    const link = await registry.enrolments.revokeLink(id, clock.now(), sourceOf(actor));
    if (link === undefined) return { refusal: refuse('NOT_FOUND', ['id'], `There is no enrolment link "${id}".`) };
    this.#writeEvent('enrolment_link.revoked', undefined, { actor: actor.name, id: link.id, name: link.name });
    return { link };
  }

  async #isSeen(deviceId: string, actor: Actor): Promise<boolean> {
    return (
      actor.devices === undefined || (await this.deps.registry.viewFor(actor).devices.find(deviceId)) !== undefined
    );
  }

  #writeEvent(type: EventType, deviceId: DeviceId | undefined, data: Readonly<Record<string, unknown>>): void {
    writeEvent(this.deps, type, deviceId, data);
    if (deviceId !== undefined) this.deps.bus.feed.publish('device', { deviceId });
  }
}

function noSuchDevice(deviceId: string, path: readonly string[] = ['deviceId']): Refusal {
  return refuse('NOT_FOUND', path, `There is no device "${deviceId}".`);
}
