/** Creates the addresses to which a device posts its screen, or from which it fetches a picture. */
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

  /** For one snapshot of this device; undefined if no address of the hub is known. */
  snapshotUrl(deviceId: DeviceId, ticketId: string, expiresAt: number): string | undefined {
    return this.addresses.urlOf(this.#grants.snapshotPath({ deviceId, ticketId }, expiresAt));
  }

  /** For one picture. */
  previewUrl(uploadId: string, expiresAt: number): string | undefined {
    return this.addresses.urlOf(this.#grants.previewPath(uploadId, expiresAt));
  }
}
