/**
 * Parses the identity that a connection claims: a stable device id from an MQTT client id or a
 * header. The gateway decides whether the claim is true.
 */
import type { DialectName } from './dialects.js';
import type { DeviceId } from './ids.js';

/** `group` and `uuid` are set only for a xiaozhi client id that contains them. [xiaozhi §2.8] */
type ParsedIdentity =
  | {
      readonly ok: true;
      readonly deviceId: DeviceId;
      readonly dialect: DialectName;
      readonly group?: string;
      readonly uuid?: string;
    }
  | { readonly ok: false; readonly problem: string };

/** UTF-16 code units. Xiaozhi ids have 60; the broker has the same limit. */
export const clientIdMax = 256;

const macDigits = '[0-9a-fA-F]{2}(?:[:_-]?[0-9a-fA-F]{2}){5}';
const mac = new RegExp(`^${macDigits}$`);
const xiaozhiId = new RegExp(`^(.+?)@@@(${macDigits})(?:@@@(.+))?$`);

/** Ids of microcontrollers: no characters that URLs, topics or shells interpret. [mcpu §6.1] */
const microcontrollerId = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const mcpuClientId = /^mcpu@@@(.*?)(?:@@@.+)?$/s;

/**
 * Reads `mcpu@@@ID[@@@…]` as a microcontroller, `GROUP@@@MAC[@@@UUID]` as the device with that MAC,
 * and any other client id as the device id itself.
 */
export function parseMqttClientId(clientId: string): ParsedIdentity {
  if (clientId === '') return refuse('the client id is empty');
  if (clientId.length > clientIdMax) return refuse(`the client id is longer than ${clientIdMax} characters`);
  if (/[\p{Cc}\p{Surrogate}]/u.test(clientId))
    return refuse('the client id contains control characters or invalid UTF-8');
  // A bare MAC would impersonate the device that connects with a xiaozhi id.
  if (mac.test(clientId))
    return refuse('the client id is a bare MAC address; use GROUP@@@MAC@@@UUID or an id that is not a MAC');
  const microcontroller = mcpuClientId.exec(clientId)?.[1];
  if (microcontroller !== undefined) return parseMicrocontrollerId(microcontroller);
  const [, group, address, uuid] = xiaozhiId.exec(clientId) ?? [];
  if (group === undefined || address === undefined) return xiaozhi(clientId as DeviceId);
  return { ...xiaozhi(deviceIdOfMac(address)), group, ...(uuid === undefined ? {} : { uuid }) };
}

/** Parses the `Device-Id` header of a WebSocket handshake, which must be a MAC. [xiaozhi §1.2] */
export function parseDeviceIdHeader(header: string | undefined): ParsedIdentity {
  if (header === undefined) return refuse('the Device-Id header is missing');
  return mac.test(header) ? xiaozhi(deviceIdOfMac(header)) : refuse('the Device-Id header is not a MAC address');
}

/** The id of the device with this MAC address, in any notation. Another text stays as it is. */
export function deviceIdOf(text: string): string {
  return mac.test(text) ? deviceIdOfMac(text) : text;
}

/** Parses the id of a microcontroller, which comes from its registration. [mcpu §0] */
export function parseMicrocontrollerId(id: string | undefined): ParsedIdentity {
  if (id !== undefined && microcontrollerId.test(id)) return { ok: true, deviceId: id as DeviceId, dialect: 'MCPU' };
  return refuse(
    'the id is not valid for a microcontroller: use 1 to 64 lower-case letters, digits, dots, dashes and underscores',
  );
}

/** The family of a device of which only the id is left: a guess by the form of the id. */
export function likelyDialectOf(deviceId: DeviceId): DialectName {
  return microcontrollerId.test(deviceId) ? 'MCPU' : 'XIAOZHI';
}

function deviceIdOfMac(address: string): DeviceId {
  const digits = address.replace(/[:_-]/g, '').toLowerCase();
  return (digits.match(/../g) ?? []).join(':') as DeviceId;
}

function xiaozhi(deviceId: DeviceId): ParsedIdentity & { readonly ok: true } {
  return { ok: true, deviceId, dialect: 'XIAOZHI' };
}

function refuse(problem: string): ParsedIdentity {
  return { ok: false, problem };
}
