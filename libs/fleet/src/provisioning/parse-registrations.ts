/**
 * Parses registrations of future devices for the registry. It refuses the first invalid one and
 * names its position.
 */
import { parseDeviceIdHeader, parseMicrocontrollerId } from '@flotilla/mcp';
import type { DialectName, TransportKind } from '@flotilla/mcp';
import type { NewDevice } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { parseProof } from './parse-proof.js';

export interface Registration {
  readonly deviceId: string;
  readonly name?: string | undefined;
  readonly tags: readonly string[];
  readonly dialect: DialectName;
  /** The default is MQTT for xiaozhi devices, and TCP for microcontrollers, which the hub dials. */
  readonly transport?: TransportKind | undefined;
  /** `host:port` of a microcontroller that the hub dials. */
  readonly address?: string | undefined;
  /** The UUID that a xiaozhi device will come with. */
  readonly clientId?: string | undefined;
  /** Trust on first use of a xiaozhi device, ms since the Unix epoch. */
  readonly admitWithoutCodeUntil?: number | undefined;
}

/** Devices of one request: one statement and one answer with all their secrets. */
const devicesMax = 1_000;

export function parseRegistrations(
  registrations: readonly Registration[],
  path: readonly string[],
  now: number,
): { readonly devices: readonly NewDevice[] } | { readonly refusal: Refusal } {
  const number = refuseNumber(registrations.length, path);
  if (number !== undefined) return { refusal: number };
  const { devices, problems } = checkRegistrations(registrations, path, now);
  const [refusal] = problems;
  return refusal === undefined ? { devices: devices.map(({ device }) => device) } : { refusal };
}

/** Sorts the registrations into valid devices, with their positions, and problems of the others. */
export function checkRegistrations(
  registrations: readonly Registration[],
  path: readonly string[],
  now: number,
): {
  readonly devices: readonly { readonly index: number; readonly device: NewDevice }[];
  readonly problems: readonly Refusal[];
} {
  const devices = new Map<string, { readonly index: number; readonly device: NewDevice }>();
  const problems: Refusal[] = [];
  for (const [index, registration] of registrations.entries()) {
    const at = [...path, String(index)];
    const parsed = parseRegistration(registration, at);
    const proven = parseProof(registration, at, now);
    if ('refusal' in parsed) problems.push(parsed.refusal);
    else if ('refusal' in proven) problems.push(proven.refusal);
    else if (devices.has(parsed.device.deviceId)) {
      const message = `"${parsed.device.deviceId}" is in the list twice.`;
      problems.push(refuse('CONFLICT', [...at, 'deviceId'], message));
    } else devices.set(parsed.device.deviceId, { index, device: { ...parsed.device, ...proven.proof } });
  }
  return { devices: [...devices.values()], problems };
}

export function refuseNumber(count: number, path: readonly string[]): Refusal | undefined {
  if (count > 0 && count <= devicesMax) return undefined;
  const message = `1 to ${String(devicesMax)} devices can be registered at once, not ${String(count)}.`;
  return refuse(count === 0 ? 'INVALID' : 'LIMIT_EXCEEDED', path, message);
}

type ParsedRegistration = { readonly device: NewDevice } | { readonly refusal: Refusal };

function parseRegistration(registration: Registration, path: readonly string[]): ParsedRegistration {
  return parsers[registration.dialect](registration, path);
}

const parsers: Readonly<Record<DialectName, typeof parseRegistration>> = {
  XIAOZHI: parseXiaozhi,
  MCPU: parseMicrocontroller,
};

/** Boards that come by themselves, known by their MAC. */
function parseXiaozhi(
  { deviceId, name, tags, dialect, transport = 'MQTT', address }: Registration,
  path: readonly string[],
): ParsedRegistration {
  if (transport === 'TCP')
    return { refusal: refuse('INVALID', [...path, 'transport'], 'A XIAOZHI device connects over MQTT or WEBSOCKET.') };
  if (address !== undefined)
    return {
      refusal: refuse(
        'INVALID',
        [...path, 'address'],
        'A XIAOZHI device comes by itself and has no address to be dialled at.',
      ),
    };
  const identity = parseDeviceIdHeader(deviceId);
  if (identity.ok) return { device: { deviceId: identity.deviceId, name, tags, dialect, transport } };
  const message = `"${deviceId.slice(0, 80)}" is no MAC address, for example 02:5e:7a:10:c4:9f.`;
  return { refusal: refuse('INVALID', [...path, 'deviceId'], message) };
}

/** Microcontrollers wait to be dialled, or come by themselves as xiaozhi devices do. [mcpu §1.2] */
function parseMicrocontroller(
  { deviceId, name, tags, dialect, transport = 'TCP', address }: Registration,
  path: readonly string[],
): ParsedRegistration {
  const identity = parseMicrocontrollerId(deviceId);
  if (!identity.ok) {
    const message =
      `"${deviceId.slice(0, 80)}" is not a valid id for a microcontroller. ` +
      'Use 1 to 64 lower-case letters, digits, dots, dashes and underscores, for example greenhouse-7.';
    return { refusal: refuse('INVALID', [...path, 'deviceId'], message) };
  }
  const device = { deviceId: identity.deviceId, name, tags, dialect, transport };
  if (transport !== 'TCP') {
    if (address === undefined) return { device };
    const message = `An MCPU device with transport ${transport} comes by itself and has no address to be dialled at.`;
    return { refusal: refuse('INVALID', [...path, 'address'], message) };
  }
  if (address !== undefined && isDialAddress(address)) return { device: { ...device, address } };
  const problem = address === undefined ? 'has no address' : `cannot have the address "${address.slice(0, 80)}"`;
  const message =
    `An MCPU device with transport TCP, which the hub dials, ${problem}. Give its host and port, such as ` +
    '192.168.1.41:3000, or the transport MQTT or WEBSOCKET if it connects itself.';
  return { refusal: refuse('INVALID', [...path, 'address'], message) };
}

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port. */
function isDialAddress(address: string): boolean {
  const [, port] = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(\d{1,5})$/.exec(address) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}
