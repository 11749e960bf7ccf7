/** Who a connection claims to be: a device's stable id from an MQTT client id or a header. Whether the claim is true is the gateway's question. */
import type { DeviceId } from './ids.js';

/** `group` and `uuid` only where the client id is a xiaozhi id that has them. [xiaozhi §2.8] */
export type ParsedIdentity =
  | {
      readonly ok: true;
      readonly deviceId: DeviceId;
      /** XIAOZHI where it is not given. */
      readonly dialect?: 'MCPU';
      readonly group?: string;
      readonly uuid?: string;
    }
  | { readonly ok: false; readonly problem: string };

/** UTF-16 code units. Xiaozhi ids have 60; the broker cuts at the same length. */
export const clientIdMax = 256;

const macDigits = '[0-9a-fA-F]{2}(?:[:_-]?[0-9a-fA-F]{2}){5}';
const mac = new RegExp(`^${macDigits}$`);
const xiaozhiId = new RegExp(`^(.+?)@@@(${macDigits})(?:@@@(.+))?$`);

/** What microcontrollers may be called: nothing that a URL, a topic or a shell would read otherwise. [mcpu §6.1] */
const microcontrollerId = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const mcpuClientId = /^mcpu@@@(.*?)(?:@@@.+)?$/s;

/** `mcpu@@@ID` or `mcpu@@@ID@@@…` is the microcontroller with that id; `GROUP@@@MAC@@@UUID` or `GROUP@@@MAC` is the device with that MAC; any other id is the device's own, used as it is. */
export function parseMqttClientId(clientId: string): ParsedIdentity {
  if (clientId === '') return refuse('the client id is empty');
  if (clientId.length > clientIdMax) return refuse(`the client id is longer than ${clientIdMax} characters`);
  if (/[\p{Cc}\p{Surrogate}]/u.test(clientId))
    return refuse('the client id contains control characters or invalid UTF-8');
  // A bare MAC would name the device of somebody who comes with a xiaozhi id.
  if (mac.test(clientId))
    return refuse('the client id is a bare MAC address; use GROUP@@@MAC@@@UUID or an id that is no MAC');
  const microcontroller = mcpuClientId.exec(clientId)?.[1];
  if (microcontroller !== undefined) return parseMicrocontrollerId(microcontroller);
  const [, group, address, uuid] = xiaozhiId.exec(clientId) ?? [];
  if (group === undefined || address === undefined) return { ok: true, deviceId: clientId as DeviceId };
  return { ok: true, deviceId: deviceIdOfMac(address), group, ...(uuid === undefined ? {} : { uuid }) };
}

/** The `Device-Id` header of a WebSocket handshake: a MAC. [xiaozhi §1.2] */
export function parseDeviceIdHeader(header: string | undefined): ParsedIdentity {
  if (header === undefined) return refuse('the Device-Id header is missing');
  return mac.test(header)
    ? { ok: true, deviceId: deviceIdOfMac(header) }
    : refuse('the Device-Id header is no MAC address');
}

/** Microcontrollers have no identity of their own: they are who their registration says. [mcpu §0] */
export function parseMicrocontrollerId(id: string | undefined): ParsedIdentity {
  if (id !== undefined && microcontrollerId.test(id)) return { ok: true, deviceId: id as DeviceId, dialect: 'MCPU' };
  return refuse(
    'the id is none of a microcontroller: 1 to 64 lower-case letters, digits, dots, dashes and underscores',
  );
}

function deviceIdOfMac(address: string): DeviceId {
  const digits = address.replace(/[:_-]/g, '').toLowerCase();
  return (digits.match(/../g) ?? []).join(':') as DeviceId;
}

function refuse(problem: string): ParsedIdentity {
  return { ok: false, problem };
}
