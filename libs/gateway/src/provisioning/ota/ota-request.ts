/**
 * Parses an OTA request, from headers first and from the body if a header is missing. Nothing in it
 * is proven, and no error in it is a reason to reject it: an SSID with a quote makes the body
 * invalid JSON. [xiaozhi §7.1, §7.2]
 */
import type { IncomingHttpHeaders } from 'node:http';
import { deviceText, isJsonObject, parseDeviceIdHeader } from '@flotilla/mcp';
import type { DeviceId, JsonObject } from '@flotilla/mcp';
import type { BoardFacts } from '@flotilla/registry';
import { readBoardFacts } from './board-facts.js';

export interface OtaRequest {
  /** Undefined if neither headers nor body contain a MAC. */
  readonly deviceId: DeviceId | undefined;
  /** Undefined if it is missing or not plausible. */
  readonly clientUuid: string | undefined;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly board: BoardFacts;
  /** Why it restarted, where its firmware reports it. */
  readonly resetReason: string | undefined;
  /** The parsed body; empty if it was invalid. */
  readonly body: JsonObject;
}

/** Characters: a UUID has 36. */
const CLIENT_UUID_MAX = 64;

export function readOtaRequest(headers: IncomingHttpHeaders, bodyText: string): OtaRequest {
  const body = parseBody(bodyText);
  const application = objectIn(body, 'application');
  const board = objectIn(body, 'board');
  const agent = readUserAgent(header(headers, 'user-agent'));
  return {
    deviceId: deviceIdOf(header(headers, 'device-id')) ?? deviceIdOf(text(body, 'mac_address')),
    clientUuid: clientUuidOf(header(headers, 'client-id')) ?? clientUuidOf(text(body, 'uuid')),
    model: plain(text(board, 'name')) ?? plain(text(board, 'type')) ?? agent.model,
    firmwareVersion: plain(text(application, 'version')) ?? agent.version,
    board: readBoardFacts(body),
    resetReason: plain(text(body, 'reset_reason') ?? text(board, 'reset_reason')),
    body,
  };
}

function parseBody(bodyText: string): JsonObject {
  try {
    const value: unknown = JSON.parse(bodyText);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** `<board name>/<version>`, such as `lichuang-dev/2.4.2`. */
function readUserAgent(agent: string | undefined): {
  readonly model: string | undefined;
  readonly version: string | undefined;
} {
  const [, model, version] = /^([^/]+)\/([^/ ]+)$/.exec(agent ?? '') ?? [];
  return { model: plain(model), version: plain(version) };
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

function text(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}

function deviceIdOf(value: string | undefined): DeviceId | undefined {
  const identity = parseDeviceIdHeader(value);
  return identity.ok ? identity.deviceId : undefined;
}

function clientUuidOf(value: string | undefined): string | undefined {
  return value !== undefined && value.length <= CLIENT_UUID_MAX && /^[\x21-\x7e]+$/.test(value) ? value : undefined;
}

function plain(value: string | undefined): string | undefined {
  return deviceText(value) || undefined;
}
