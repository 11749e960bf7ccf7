/**
 * What an OTA request says of its sender, from headers first and from the body where a header is missing. Nothing of it is proven, and nothing of it is a reason to
 * refuse: an SSID with a quote makes the body invalid JSON. [xiaozhi §7.1, §7.2]
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, parseDeviceIdHeader } from '@flotilla/mcp';
import type { DeviceId, JsonObject } from '@flotilla/mcp';
import type { BoardFacts } from '@flotilla/registry';
import { readBoardFacts } from './board-facts.js';

export interface OtaRequest {
  /** Undefined where neither header nor body has a MAC. */
  readonly deviceId: DeviceId | undefined;
  /** Undefined where there is none, or one that is no plausible id. */
  readonly clientUuid: string | undefined;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly board: BoardFacts;
  /** The parsed body; empty where it was broken. */
  readonly body: JsonObject;
}

/** Characters: a UUID has 36. */
const CLIENT_UUID_MAX = 64;
/** Characters of a model or version: the longest board names have about 50. */
const NAME_MAX = 128;

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

/** Text for people: bounded, without control characters, which PostgreSQL and terminals do not want either. */
function plain(value: string | undefined): string | undefined {
  const cleaned = value
    ?.slice(0, NAME_MAX)
    .replace(/[\p{Cc}\p{Surrogate}]/gu, '')
    .trim();
  return cleaned === undefined || cleaned === '' ? undefined : cleaned;
}
