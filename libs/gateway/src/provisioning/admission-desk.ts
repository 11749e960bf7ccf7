/**
 * Whether the sender of an OTA request is let in, has to wait, or is turned away. A device that is known by its Client-Id never depends on modes, links or limits; one
 * that is known by its MAC alone never gets more than a place in the queue.
 */
import { createHash } from 'node:crypto';
import type { EventFeed } from '@flotilla/bus';
import type { CredentialStore, EnrolmentStore, KnownDevice, OtaContact, PendingEnrolment } from '@flotilla/registry';
import type { EventLog } from '../sessions/event-log.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { AttemptLimiter } from '../overload/attempt-limiter.js';
import { isProofRight } from './factory-proof.js';
import type { FactoryProof } from './factory-proof.js';

/** `approve`: somebody reads a code off the device. `open`: everybody. `closed`: only devices registered before. */
export type EnrolmentMode = 'approve' | 'open' | 'closed';

export interface AdmissionDeskOptions {
  readonly credentials: Pick<CredentialStore, 'findKnown' | 'contacted'>;
  readonly enrolments: Pick<EnrolmentStore, 'request' | 'admit' | 'admitByLink' | 'factoryKeyOf'>;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly events: EventLog;
  readonly limiter: AttemptLimiter;
  readonly mode: EnrolmentMode;
  readonly logger: GatewayLogger;
}

export type Admission =
  | { readonly kind: 'known'; readonly known: KnownDevice }
  | { readonly kind: 'waiting'; readonly pending: PendingEnrolment }
  /** Mode `closed`, and nobody registered it. */
  | { readonly kind: 'closed' }
  /** Too many attempts of strangers from its address. */
  | { readonly kind: 'limited' };

/** Devices that wait, remembered so that each is one event and may ask as often as it does: as many as the queue holds. */
const WAITING_MAX = 1_000;

export class AdmissionDesk {
  /** Challenges by device and Client-Id hash; the oldest first. */
  readonly #waiting = new Map<string, string>();

  constructor(private readonly options: AdmissionDeskOptions) {}

  /** An OTA request, with the token of its URL. Rejects where PostgreSQL is needed and away. */
  async admit(contact: OtaContact, token: string | undefined): Promise<Admission> {
    const standing = await this.#recognise(contact);
    if (standing.isProven) return { kind: 'known', known: standing.known };
    if (!this.#mayTry(contact)) return { kind: 'limited' };
    const isStranger = standing.known === undefined;
    const known = isStranger ? await this.#admitAtOnce(contact, token) : undefined;
    if (known) {
      this.options.limiter.giveBack(contact.remoteAddress);
      return { kind: 'known', known };
    }
    if (isStranger && this.options.mode === 'closed') return { kind: 'closed' };
    return { kind: 'waiting', pending: await this.#queue(contact, !isStranger) };
  }

  /** An activation request: whether the device has been let in, if need be by what its chip proves. */
  async isAdmitted(contact: OtaContact, proof: FactoryProof | undefined): Promise<boolean | 'limited'> {
    const standing = await this.#recognise(contact);
    if (standing.isProven) return true;
    if (!this.#waiting.has(keyOf(contact)) && !this.#mayTry(contact)) return 'limited';
    return proof !== undefined && (await this.#admitByFactoryKey(contact, proof));
  }

  /** The first Client-Id of a registered device is bound to it. */
  async #recognise(contact: OtaContact): Promise<Standing> {
    const { credentials, logger } = this.options;
    const known = await credentials.findKnown(contact.deviceId);
    if (known === undefined) return { isProven: false, known };
    if (known.clientUuidHash === undefined) {
      await credentials.contacted(contact);
      return judge(await credentials.findKnown(contact.deviceId), contact);
    }
    const standing = judge(known, contact);
    if (standing.isProven)
      credentials.contacted(contact).catch((error: unknown) => {
        logger.warn({ error, deviceId: contact.deviceId }, 'what a device said of itself was not kept');
      });
    return standing;
  }

  async #admitAtOnce(contact: OtaContact, token: string | undefined): Promise<KnownDevice | undefined> {
    const { enrolments, mode } = this.options;
    const byLink = token === undefined ? undefined : await enrolments.admitByLink(token, contact);
    if (byLink) return this.#welcome(byLink, 'link');
    const known = mode === 'open' ? await enrolments.admit(contact) : undefined;
    return known && this.#welcome(known, 'open');
  }

  async #admitByFactoryKey(contact: OtaContact, proof: FactoryProof): Promise<boolean> {
    const { enrolments, mode } = this.options;
    if (mode === 'closed') return false;
    const key = await enrolments.factoryKeyOf(proof.serial);
    if (key === undefined) return false;
    const { challenge } = await enrolments.request(contact);
    const known = isProofRight(proof, key, challenge) ? await enrolments.admit(contact, { serial: proof.serial }) : undefined;
    if (known) this.#welcome(known, 'factory_key');
    return known !== undefined;
  }

  #welcome(known: KnownDevice, by: 'link' | 'open' | 'factory_key'): KnownDevice {
    const { deviceId } = known;
    this.options.events.write('enrolment.approved', deviceId, { by });
    this.options.feed.publish('device', { deviceId });
    return known;
  }

  async #queue(contact: OtaContact, replaces: boolean): Promise<PendingEnrolment> {
    const pending = await this.options.enrolments.request(contact);
    const key = keyOf(contact);
    const isNew = this.#waiting.get(key) !== pending.challenge;
    this.#waiting.delete(key);
    this.#waiting.set(key, pending.challenge);
    if (this.#waiting.size > WAITING_MAX) this.#waiting.delete(this.#waiting.keys().next().value ?? '');
    const { deviceId, model, firmwareVersion, remoteAddress } = contact;
    if (isNew)
      this.options.events.write('enrolment.requested', deviceId, {
        ...{ model: model ?? null, firmwareVersion: firmwareVersion ?? null },
        ...{ remoteAddress: remoteAddress ?? null, replaces },
      });
    return pending;
  }

  #mayTry({ remoteAddress, at }: OtaContact): boolean {
    return this.options.limiter.take(remoteAddress, at);
  }
}

type Standing =
  | { readonly isProven: true; readonly known: KnownDevice }
  /** `known` by its MAC only, which everybody on the air can read. */
  | { readonly isProven: false; readonly known: KnownDevice | undefined };

function judge(known: KnownDevice | undefined, contact: OtaContact): Standing {
  return known?.clientUuidHash === hashOf(contact.clientUuid) ? { isProven: true, known } : { isProven: false, known };
}

/** Compared as hashes: how long that takes says nothing about the id. */
function hashOf(clientUuid: string): string {
  return createHash('sha256').update(clientUuid).digest('hex');
}

function keyOf(contact: OtaContact): string {
  return `${contact.deviceId} ${hashOf(contact.clientUuid)}`;
}
