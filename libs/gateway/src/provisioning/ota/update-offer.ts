/**
 * Decides which update a device installs at boot: asks the owner of the jobs, and answers in the
 * form that the firmware expects.
 */
import { compareVersions, isParsableVersion } from '@flotilla/firmware';
import type { OtaContact } from '@flotilla/registry';
import { withTimeout } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import type { UrlSigner } from '../../device-urls/url-signer.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { DeviceAddresses, ReachedAt } from '../device-addresses.js';
import type { FirmwareAnswer } from './firmware-answer.js';

/** A download that was granted to this device. */
export interface OfferedUpdate {
  readonly version: string;
  readonly downloadId: string;
  readonly expiresAt: number;
}

export interface UpdateOffer {
  /**
   * Returns the update for a device, if any. Calls `begin` right before it records the offer: false
   * means that the device no longer waits, and nothing is offered.
   */
  offerTo(device: OtaContact, begin: () => boolean): Promise<OfferedUpdate | undefined>;
}

interface OfferedFirmwareOptions {
  readonly offer: UpdateOffer;
  readonly signer: UrlSigner;
  readonly addresses: DeviceAddresses;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

/** How long a booting device waits for its offer to begin, ms. After that it gets none. */
const BEGIN_TIMEOUT_MS = 1_000;
/** How long it waits for an offer that began, ms; its HTTP client waits 30 s. [xiaozhi §6] */
const COMMIT_TIMEOUT_MS = 20_000;

export class OfferedFirmware {
  constructor(private readonly options: OfferedFirmwareOptions) {}

  /** Returns undefined if there is nothing to install. Never rejects. */
  async answerFor(contact: OtaContact, reached: ReachedAt): Promise<FirmwareAnswer | undefined> {
    const { addresses, logger, signer } = this.options;
    const { firmwareVersion } = contact;
    // The device would parse its own version as well, and abort.
    if (
      firmwareVersion === undefined ||
      !isParsableVersion(firmwareVersion) ||
      addresses.urlOf('/', reached) === undefined
    )
      return undefined;
    const update = await this.#offered(contact).catch((error: unknown) => {
      logger.warn(
        { err: error, deviceId: contact.deviceId },
        'no firmware offered: the decision took too long or failed',
      );
      return undefined;
    });
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

  /** An offer that began is a send on record: the device receives it even if the commit is slow. */
  async #offered(contact: OtaContact): Promise<OfferedUpdate | undefined> {
    const { clock, offer } = this.options;
    const wait = { hasBegun: false, isOver: false };
    const offered = offer.offerTo(contact, () => (wait.hasBegun = !wait.isOver));
    try {
      return await withTimeout(offered, BEGIN_TIMEOUT_MS, clock);
    } catch (error) {
      wait.isOver = !wait.hasBegun;
      if (wait.isOver) throw error;
      return await withTimeout(offered, COMMIT_TIMEOUT_MS, clock);
    }
  }
}
