import type { NewEvent } from '../events/event-store.js';
import type { JudgedRestart } from './restart.js';

/** What people and webhooks get of a restart that nothing explains. */
export function unexpectedRestart(restart: JudgedRestart): NewEvent {
  const { deviceId, at, firmwareVersion, bootedVersion, reason, via } = restart;
  const data = {
    firmwareVersion: firmwareVersion ?? null,
    bootedVersion: bootedVersion ?? null,
    reason: reason ?? null,
    via: via.toLowerCase(),
  };
  return { type: 'device.restarted_unexpectedly', deviceId, at, data };
}
