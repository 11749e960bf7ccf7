/** Which of the desired states that set the same property of a device applies. */
import { isSameValue } from '@flotilla/jobs';
import type { CallError } from '@flotilla/mcp';
import type { Block, Wanted } from './entry.js';
import { desiredWindowAt } from './desired-window.js';

/** A desired state that covers the device. */
export interface Contender {
  readonly wanted: Wanted;
  /** Why the device cannot have it. */
  readonly unsupported: CallError | undefined;
}

/**
 * Why each one does not apply, by id; those that apply are not in the map. One that is outside its
 * window, or that the device does not support, is in no other one's way.
 */
export function blocksOf(
  contenders: readonly Contender[],
  deviceZone: string,
  now: number,
): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>();
  const applicable: Wanted[] = [];
  for (const { wanted, unsupported } of contenders) {
    if (desiredWindowAt(wanted.window, deviceZone, now)?.isOpen === false)
      blocks.set(wanted.id, { state: 'OUT_OF_WINDOW', by: [] });
    else if (unsupported !== undefined) blocks.set(wanted.id, { state: 'UNSUPPORTED', by: [], error: unsupported });
    else applicable.push(wanted);
  }
  const highest = applicable.reduce((most, { priority }) => Math.max(most, priority), -Infinity);
  const first = applicable.filter(({ priority }) => priority === highest);
  for (const wanted of applicable) {
    if (wanted.priority < highest) blocks.set(wanted.id, { state: 'OVERRIDDEN', by: first.map(({ id }) => id) });
    else if (first.some((other) => isOpposed(wanted, other)))
      blocks.set(wanted.id, { state: 'CONFLICT', by: first.filter(({ id }) => id !== wanted.id).map(({ id }) => id) });
  }
  return blocks;
}

function isOpposed(one: Wanted, other: Wanted): boolean {
  return one.id !== other.id && !isSameValue(one.desired, other.desired, Math.min(one.tolerance, other.tolerance));
}
