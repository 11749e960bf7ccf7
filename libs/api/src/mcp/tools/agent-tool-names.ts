/**
 * The names of tools for agents: `<device>__<tool>`, in the characters and length that agent hosts
 * accept. They depend only on the id and the tools of the device, so other devices never change
 * them.
 */
import { createHash } from 'node:crypto';

/** Characters of a name: the most that agent hosts take. */
const agentToolNameMax = 64;
/** Characters of a device's part; with it there is room for a part of the tool and its hash. */
const devicePartMax = 40;
/** The part of a device whose id cannot be written as it is. */
const hashedPartMax = 24;
/** Hexadecimal digits of SHA-256: enough to make equal names practically impossible. */
const hashDigits = 10;
const separator = '__';

const mac = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;
const macPart = /^[0-9a-f]{2}(?:_[0-9a-f]{2}){5}$/;
/** No two underscores in a row and none at the ends: the first `__` ends the part of the device. */
const plainId = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;
const plainTool = /^[A-Za-z0-9_.-]+$/;
/** A tool that is named as if it had a hash could be taken for another one. */
const hashLike = new RegExp(`_[0-9a-f]{${hashDigits}}$`);

/** The agent name of each tool of a device. Tools that would have the same name all get a hash. */
export function agentToolNames(deviceId: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Map<string, number>();
  for (const tool of new Set(tools)) taken.set(sanitised(tool), (taken.get(sanitised(tool)) ?? 0) + 1);
  return new Map(tools.map((tool) => [tool, nameOf(deviceId, tool, taken.get(sanitised(tool)) === 1)]));
}

/** The device id in the name, unless it is an unusual id; undefined if `name` has no such part. */
export function deviceIdIn(name: string): string | undefined {
  const part = devicePartIn(name);
  return part !== undefined && macPart.test(part) ? part.replaceAll('_', ':') : part;
}

export function devicePartIn(name: string): string | undefined {
  const end = name.indexOf(separator);
  return end > 0 && name.length <= agentToolNameMax ? name.slice(0, end) : undefined;
}

/** Whether the id cannot be read back from the device's part. */
export function isUnusualId(deviceId: string): boolean {
  return !mac.test(deviceId) && (!plainId.test(deviceId) || macPart.test(deviceId) || deviceId.length > devicePartMax);
}

export function devicePartOf(deviceId: string): string {
  if (!isUnusualId(deviceId)) return deviceId.replaceAll(':', '_');
  return trimmed(sanitised(deviceId).replace(/_+/g, '_').slice(0, hashedPartMax)) || 'device';
}

function nameOf(deviceId: string, tool: string, isAlone: boolean): string {
  const name = `${devicePartOf(deviceId)}${separator}${sanitised(tool)}`;
  const isPlain =
    isAlone &&
    !isUnusualId(deviceId) &&
    plainTool.test(tool) &&
    !hashLike.test(tool) &&
    name.length <= agentToolNameMax;
  return isPlain ? name : `${name.slice(0, agentToolNameMax - hashDigits - 1)}_${hashOf(deviceId, tool)}`;
}

function sanitised(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, '_');
}

function trimmed(text: string): string {
  return text.replace(/^_+|_+$/g, '');
}

function hashOf(deviceId: string, tool: string): string {
  return createHash('sha256')
    .update(JSON.stringify([deviceId, tool]))
    .digest('hex')
    .slice(0, hashDigits);
}
