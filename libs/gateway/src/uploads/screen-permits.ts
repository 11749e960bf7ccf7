/** Addresses that a device is given to post its screen to, or to fetch a picture from. Made by whoever makes the call; the routes are the gateway's. */
import type { DeviceId } from '@flotilla/mcp';
import type { UrlSigner } from '../device-urls/url-signer.js';
import type { DeviceAddresses } from '../provisioning/device-addresses.js';
import { DeviceGrants } from './device-grants.js';

export class ScreenPermits {
  readonly #grants: DeviceGrants;

  constructor(
    signer: UrlSigner,
    private readonly addresses: DeviceAddresses,
  ) {
    this.#grants = new DeviceGrants(signer);
  }

  /** For one snapshot of this device; undefined where the hub has no address to tell. */
  snapshotUrl(deviceId: DeviceId, ticketId: string, expiresAt: number): string | undefined {
    return this.addresses.urlOf(this.#grants.snapshotPath({ deviceId, ticketId }, expiresAt));
  }

  /** For one picture. */
  previewUrl(uploadId: string, expiresAt: number): string | undefined {
    return this.addresses.urlOf(this.#grants.previewPath(uploadId, expiresAt));
  }
}
