/**
 * Decides which update a device installs at boot: asks the owner of the jobs, and answers in the
 * form that the firmware expects.
 */
import { compareVersions, isParsableVersion } from '@flotilla/firmware';
import type { OtaContact } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { UrlSigner } from '../../device-urls/url-signer.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { DeviceAddresses, ReachedAt } from '../device-addresses.js';
import type { FirmwareAnswer } from './firmware-answer.js';
import { withTimeout } from '../../with-timeout.js';

/** A download that was granted to this device. */
export interface OfferedUpdate {
  readonly version: string;
  readonly downloadId: string;
  readonly expiresAt: number;
}

export interface UpdateOffer {
  /**
   * Returns the update, if any. An offer counts as a send, so its intent is recorded first. After
   * `deadlineAt` (ms since the Unix epoch) nothing may be offered. A rejection offers nothing.
   */
  offerTo(device: OtaContact, deadlineAt: number): Promise<OfferedUpdate | undefined>;
}

export interface OfferedFirmwareOptions {
  readonly offer: UpdateOffer;
  readonly signer: UrlSigner;
  readonly addresses: DeviceAddresses;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

/** Booting devices wait for this answer, ms. Without PostgreSQL they are offered nothing. */
const OFFER_TIMEOUT_MS = 1_000;

export class OfferedFirmware {
  constructor(private readonly options: OfferedFirmwareOptions) {}

  /** Returns undefined if there is nothing to install. Never rejects. */
  async answerFor(contact: OtaContact, reached: ReachedAt): Promise<FirmwareAnswer | undefined> {
    const { addresses, clock, logger, offer, signer } = this.options;
    const { firmwareVersion } = contact;
    // The device would parse its own version as well, and abort.
    if (
      firmwareVersion === undefined ||
      !isParsableVersion(firmwareVersion) ||
      addresses.urlOf('/', reached) === undefined
    )
      return undefined;
    const deadlineAt = clock.now() + OFFER_TIMEOUT_MS;
    const update = await withTimeout(offer.offerTo(contact, deadlineAt), OFFER_TIMEOUT_MS, clock).catch(
      (error: unknown) => {
        logger.warn(
          { err: error, deviceId: contact.deviceId },
          'offered no firmware to a device: the query was not answered',
        );
        return undefined;
      },
    );
    if (update === undefined || !isParsableVersion(update.version)) return undefined;
    const url = addresses.urlOf(
      signer.pathOf({ purpose: 'download', id: update.downloadId, expiresAt: update.expiresAt }),
      reached,
    );
    if (url === undefined) return undefined;
    // A device installs only a version that it considers newer. [xiaozhi §7.5]
    const isNewer = compareVersions(update.version, firmwareVersion) > 0;
    return { version: update.version, url, ...(!isNewer && { force: 1 as const }) };
  }
}
