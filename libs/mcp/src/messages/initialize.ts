/** MCP `initialize`: the identity of the hub, and the answer of the device. [xiaozhi §4.3] */
import { deviceText } from '../device-text.js';
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import type { DeviceInfo } from '../tools/tool.js';

/** The service for a device's pictures. Without a token the device forgets its former one. */
export interface VisionService {
  readonly url: string;
  readonly token?: string;
}

/** Devices ignore everything except `vision`. */
export function initializeParams(vision: VisionService | undefined): JsonObject {
  return {
    protocolVersion: '2024-11-05',
    capabilities: vision === undefined ? {} : { vision },
    clientInfo: { name: 'flotilla', version: '0.1.0' },
  };
}

/** Tolerates missing members: a device without a name may still have tools. */
export function parseInitializeResult(result: unknown): DeviceInfo {
  const serverInfo = isJsonObject(result) ? result['serverInfo'] : undefined;
  if (!isJsonObject(serverInfo)) return { model: undefined, firmwareVersion: undefined };
  return {
    model: deviceText(serverInfo['name']) || undefined,
    firmwareVersion: deviceText(serverInfo['version']) || undefined,
  };
}
