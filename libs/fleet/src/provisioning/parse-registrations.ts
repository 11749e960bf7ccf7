/** What an operator says of devices to come, as the registry takes it. Refuses the first that breaks a rule, naming its place in the list. */
import { parseDeviceIdHeader } from '@flotilla/mcp';
import type { Dialect, NewDevice, TransportKind } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

export interface Registration {
  readonly deviceId: string;
  readonly name?: string | undefined;
  readonly tags: readonly string[];
  readonly dialect: Dialect;
  /** MQTT where it is not given. */
  readonly transport?: TransportKind | undefined;
}

/** Devices of one request: one statement and one answer with all their secrets. */
const devicesMax = 1_000;

export function parseRegistrations(
  registrations: readonly Registration[],
  path: readonly string[],
): { readonly devices: readonly NewDevice[] } | { readonly refusal: Refusal } {
  if (registrations.length === 0 || registrations.length > devicesMax) {
    const code = registrations.length === 0 ? 'INVALID' : 'LIMIT_EXCEEDED';
    return {
      refusal: refuse(code, path, `1 to ${String(devicesMax)} devices can be registered at once, not ${String(registrations.length)}.`),
    };
  }
  const devices = new Map<string, NewDevice>();
  for (const [index, registration] of registrations.entries()) {
    const parsed = parseRegistration(registration, [...path, String(index)]);
    if ('refusal' in parsed) return parsed;
    const { deviceId } = parsed.device;
    if (devices.has(deviceId)) {
      return { refusal: refuse('CONFLICT', [...path, String(index), 'deviceId'], `"${deviceId}" is in the list twice.`) };
    }
    devices.set(deviceId, parsed.device);
  }
  return { devices: [...devices.values()] };
}

/** The only devices that come by themselves are xiaozhi boards, known by their MAC. */
function parseRegistration(
  { deviceId, name, tags, dialect, transport = 'MQTT' }: Registration,
  path: readonly string[],
): { readonly device: NewDevice } | { readonly refusal: Refusal } {
  if (dialect !== 'XIAOZHI') return { refusal: refuse('INVALID', [...path, 'dialect'], 'Only XIAOZHI devices come by themselves.') };
  if (transport === 'TCP')
    return { refusal: refuse('INVALID', [...path, 'transport'], 'A XIAOZHI device connects over MQTT or WEBSOCKET.') };
  const identity = parseDeviceIdHeader(deviceId);
  if (identity.ok) return { device: { deviceId: identity.deviceId, name, tags, dialect, transport } };
  const message = `"${deviceId.slice(0, 80)}" is no MAC address, for example 02:5e:7a:10:c4:9f.`;
  return { refusal: refuse('INVALID', [...path, 'deviceId'], message) };
}
