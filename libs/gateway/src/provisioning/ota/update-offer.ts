/** Whether a device that asks for its settings is told to install something: asked of whoever knows the jobs, answered in the form that the device understands. */
import { compareVersions, isParsableVersion } from '@flotilla/firmware';
import type { OtaContact } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { UrlSigner } from '../../device-urls/url-signer.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { DeviceAddresses, ReachedAt } from '../device-addresses.js';
import type { FirmwareAnswer } from './firmware-answer.js';
import { inTime } from '../../with-timeout.js';

/** A download that was granted to this device. */
export interface OfferedUpdate {
  readonly version: string;
  readonly downloadId: string;
  readonly expiresAt: number;
}

export interface UpdateOffer {
  /**
   * What the device is to install; undefined: nothing. Offering is a send, so whoever answers has put its intent on record, and answers nothing once `deadlineAt` (ms since
   * the Unix epoch) is past, because nobody waits for it then. A rejection offers nothing.
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

/** Devices that boot wait for this answer before they connect, ms; while PostgreSQL is away they are offered nothing. */
const OFFER_TIMEOUT_MS = 1_000;

export class OfferedFirmware {
  constructor(private readonly options: OfferedFirmwareOptions) {}

  /** Undefined where there is nothing to install. Never rejects. */
  async answerFor(contact: OtaContact, reached: ReachedAt): Promise<FirmwareAnswer | undefined> {
    const { addresses, clock, logger, offer, signer } = this.options;
    const { firmwareVersion } = contact;
    // It would parse its own version together with ours, and abort.
    if (
      firmwareVersion === undefined ||
      !isParsableVersion(firmwareVersion) ||
      addresses.urlOf('/', reached) === undefined
    )
      return undefined;
    const deadlineAt = clock.now() + OFFER_TIMEOUT_MS;
    const update = await inTime(offer.offerTo(contact, deadlineAt), OFFER_TIMEOUT_MS, clock).catch((error: unknown) => {
      logger.warn(
        { err: error, deviceId: contact.deviceId },
        'a device is offered no firmware: who decides did not answer',
      );
      return undefined;
    });
    if (update === undefined || !isParsableVersion(update.version)) return undefined;
    const url = addresses.urlOf(
      signer.pathOf({ purpose: 'download', id: update.downloadId, expiresAt: update.expiresAt }),
      reached,
    );
    if (url === undefined) return undefined;
    // A device installs by itself only what it takes for newer. [xiaozhi §7.5]
    const isNewer = compareVersions(update.version, firmwareVersion) > 0;
    return { version: update.version, url, ...(!isNewer && { force: 1 as const }) };
  }
}
