/**
 * A voice server as the relay sees it: where it is, how the hub proves itself there, and what the
 * server may have and do.
 */
import type { LookupFunction } from 'node:net';

/** What the hub proves itself with. Never a credential of a device. */
export type VoiceCredential =
  | { readonly kind: 'token'; readonly token: string }
  /** Signs one token per conversation, as xiaozhi-esp32-server checks it. [xiaozhi §8] */
  | { readonly kind: 'signing_key'; readonly key: string };

/** Judges the addresses of a connection. Errors carry the code `URL_FORBIDDEN`. */
export interface AddressGuard {
  /** Why an IP address may not be reached; undefined for a name, which is looked up. */
  refuse(hostname: string): Error | undefined;
  /** Looks a name up, and fails where an address that it leads to may not be reached. */
  readonly lookup: LookupFunction;
}

export interface VoiceServer {
  readonly url: string;
  readonly credential: VoiceCredential | undefined;
  /** Listed servers get the Client-Id and the address of the device; both are kept from others. */
  readonly isListed: boolean;
  /** It may list and call user-only tools, and reboot devices. */
  readonly mayCallUserOnly: boolean;
  /** Undefined: it may be at any address. */
  readonly guard: AddressGuard | undefined;
}
