/**
 * Chooses the address of a device by weighted rendezvous hashing: devices spread by weight, and
 * each keeps its address while that is available. If an address is lost, only its devices move.
 */
import { createHash } from 'node:crypto';
import type { MqttAddress } from './mqtt-addresses.js';

/** Undefined without an address. `key` identifies the device. */
export function chooseAddress(addresses: readonly MqttAddress[], key: string): string | undefined {
  let best: { readonly endpoint: string; readonly score: number } | undefined;
  for (const { endpoint, weight } of addresses) {
    const score = weight / -Math.log(evenlyDistributed(`${key}\n${endpoint}`));
    if (best === undefined || score > best.score) best = { endpoint, score };
  }
  return best?.endpoint;
}

/** A number between 0 and 1, without both, that depends on the text only. */
function evenlyDistributed(text: string): number {
  return (createHash('sha256').update(text).digest().readUIntBE(0, 6) + 0.5) / 2 ** 48;
}
