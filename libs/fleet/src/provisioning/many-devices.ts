/**
 * Removes many devices, or changes their transport, by a filter. The caller says how many devices
 * it expects, so that nothing happens to devices that it has not seen.
 */
import type { DeviceId, IncomingTransport } from '@flotilla/mcp';
import type { DeviceFilter, EventType } from '@flotilla/registry';
import { sourceOf, type Actor } from '../actor.js';
import { refuseFilter } from '../device-filter-rules.js';
import { refuseUnknownGroups } from '../groups/device-groups.js';
import { refuse, type Refusal } from '../refusal.js';
import { writeEvent } from '../write-event.js';
import { inParts } from './in-parts.js';
import type { ProvisioningDeps } from './provisioning.js';
import { endsAtATime } from './session-ends.js';
import type { SessionEnds } from './session-ends.js';

interface ManyDevicesRequest {
  readonly filter: DeviceFilter;
  /** If another number of devices matches, nothing is changed. */
  readonly expectedCount: number;
}

/** Devices of one request: what one request can do in a few seconds. */
const manyDevicesMax = 10_000;
/** Devices of one transaction; each holds an advisory lock until the commit. */
const perTransaction = 500;

export class ManyDevices {
  constructor(
    private readonly deps: ProvisioningDeps,
    private readonly sessionEnds: SessionEnds,
  ) {}

  /** Removes the devices with their credentials, and ends their sessions. Their records stay. */
  async remove(
    request: ManyDevicesRequest,
    path: readonly string[],
    actor: Actor,
  ): Promise<{ readonly removedCount: number } | { readonly refusal: Refusal }> {
    const chosen = await this.#choose(request, path, actor);
    if ('refusal' in chosen) return chosen;
    const { registry } = this.deps;
    let removedCount = 0;
    for (const ids of inParts(chosen.ids, perTransaction)) {
      const removed = await registry.enrolments.removeMany(ids, sourceOf(actor));
      removedCount += removed.length;
      for (const some of inParts(removed, endsAtATime))
        await Promise.all(some.map((device) => this.sessionEnds.end(device)));
      for (const { id } of removed) this.#writeEvent('device.removed', id, actor);
    }
    return { removedCount };
  }

  /**
   * Sets how the devices connect after their next OTA request. Devices that the hub dials stay, and
   * those that have the transport already.
   */
  async setTransport(
    request: ManyDevicesRequest & { readonly transport: IncomingTransport },
    path: readonly string[],
    actor: Actor,
  ): Promise<{ readonly changedCount: number; readonly matchedCount: number } | { readonly refusal: Refusal }> {
    const chosen = await this.#choose(request, path, actor);
    if ('refusal' in chosen) return chosen;
    const { registry, bus } = this.deps;
    let changedCount = 0;
    for (const ids of inParts(chosen.ids, perTransaction)) {
      const changed = await registry.credentials.setTransports(ids, request.transport, sourceOf(actor));
      changedCount += changed.length;
      for (const deviceId of changed) bus.feed.publish('device', { deviceId });
    }
    return { changedCount, matchedCount: chosen.ids.length };
  }

  async #choose(
    { filter, expectedCount }: ManyDevicesRequest,
    path: readonly string[],
    actor: Actor,
  ): Promise<{ readonly ids: readonly DeviceId[] } | { readonly refusal: Refusal }> {
    const view = this.deps.registry.viewFor(actor);
    const refusal =
      refuseFilter(filter, [...path, 'filter']) ?? (await refuseUnknownGroups(view, filter, [...path, 'filter']));
    if (refusal !== undefined) return { refusal };
    const ids = await view.devices.idsOf(filter, manyDevicesMax + 1);
    if (ids.length > manyDevicesMax) {
      const message = `More than ${String(manyDevicesMax)} devices match. Add a condition to the filter.`;
      return { refusal: refuse('LIMIT_EXCEEDED', [...path, 'filter'], message) };
    }
    if (ids.length === expectedCount) return { ids };
    const message =
      `${String(ids.length)} devices match now, not ${String(expectedCount)}. Nothing was changed. ` +
      'Check the devices, then repeat with the new number.';
    return { refusal: refuse('CONFLICT', [...path, 'expectedCount'], message) };
  }

  #writeEvent(type: EventType, deviceId: DeviceId, actor: Actor): void {
    writeEvent(this.deps, type, deviceId, { actor: actor.name });
    this.deps.bus.feed.publish('device', { deviceId });
  }
}
