/** A voice server as the relay knows it: its address, the hub's credential, and its rights. */
import type { LookupFunction } from 'node:net';

/** The credential of the hub. Never a credential of a device. */
type VoiceCredential =
  | { readonly kind: 'token'; readonly token: string }
  /** Signs one token per conversation, as xiaozhi-esp32-server checks it. [xiaozhi §8] */
  | { readonly kind: 'signing_key'; readonly key: string };

/** Checks the addresses of a connection. Errors have the code `URL_FORBIDDEN`. */
export interface AddressGuard {
  /** Returns why an IP address is forbidden; undefined for a name, which `lookup` checks. */
  refuse(hostname: string): Error | undefined;
  /** Resolves a name and fails if it leads to a forbidden address. */
  readonly lookup: LookupFunction;
}

export interface VoiceServer {
  readonly url: string;
  readonly credential: VoiceCredential | undefined;
  /** Listed servers receive the Client-Id and the address of the device; others do not. */
  readonly isListed: boolean;
  /** May list and call user-only tools, and restart devices. */
  readonly mayCallUserOnly: boolean;
  /** Undefined: every address is allowed. */
  readonly guard: AddressGuard | undefined;
}
