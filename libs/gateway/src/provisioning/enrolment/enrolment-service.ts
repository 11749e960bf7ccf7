/**
 * Decides whether the sender of an OTA request is admitted, waits for approval, or is rejected. A
 * device that proves its Client-Id never depends on modes, links or limits. All others get the same
 * answers after the same work, so that these do not reveal whether a MAC is registered.
 */
import { createHash } from 'node:crypto';
import type { EventFeed } from '@flotilla/bus';
import type {
  CredentialStore,
  EnrolmentStore,
  KnownDevice,
  OtaContact,
  PendingEnrolment,
  Recognition,
} from '@flotilla/registry';
import { LRUCache } from 'lru-cache';
import type { EventLog } from '../../sessions/event-log.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import { addressKey } from '../../overload/attempt-limiter.js';
import type { AttemptLimiter } from '../../overload/attempt-limiter.js';
import { isProofRight } from './factory-proof.js';
import type { FactoryProof } from './factory-proof.js';
import { WaitingBoards } from './waiting-boards.js';

/**
 * `approve`: an operator enters a code. `open`: every device, unless it would replace another.
 * `closed`: only a registered Client-Id, a link, or trust on first use.
 */
export type EnrolmentMode = 'approve' | 'open' | 'closed';

interface EnrolmentServiceOptions {
  readonly credentials: Pick<CredentialStore, 'recognise' | 'contacted'>;
  readonly enrolments: Pick<
    EnrolmentStore,
    'request' | 'challengeOf' | 'admit' | 'admitFirstUse' | 'admitMoved' | 'admitByLink' | 'factoryKeyOf'
  >;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly events: EventLog;
  readonly limiter: AttemptLimiter;
  readonly mode: EnrolmentMode;
  readonly logger: GatewayLogger;
}

export type Admission =
  | { readonly kind: 'known'; readonly known: KnownDevice }
  | { readonly kind: 'waiting'; readonly pending: PendingEnrolment }
  /** Mode `closed`, and the device did not prove that it is registered. */
  | { readonly kind: 'closed' }
  /** Too many attempts of unproven devices from its address. */
  | { readonly kind: 'limited' };

/** What admits a device besides its identity. */
export interface AskedWith {
  /** The token of a link, in the URL. */
  readonly token: string | undefined;
  /** An operator moved the board here from its former server. */
  readonly hasMoved?: boolean;
}

type Unproven = Extract<Recognition, { readonly kind: 'unproven' }>;

/**
 * Devices that wait for approval, so that each causes one event and may ask repeatedly: as many as
 * the queue holds.
 */
const WAITING_MAX = 1_000;
/** Devices whose wrong Client-Id was reported, so that each causes one event. */
const REPORTED_MAX = 1_000;
/** The interval between events of one rejected device, which asks about every minute. */
const REFUSED_EVENT_EVERY_MS = 60_000;

export class EnrolmentService {
  readonly #waiting = new WaitingBoards(WAITING_MAX);
  readonly #reported = new LRUCache<string, true>({ max: REPORTED_MAX });

  constructor(private readonly options: EnrolmentServiceOptions) {}

  /** Handles an OTA request. Rejects if PostgreSQL is needed and down. */
  async admit(contact: OtaContact, asked: AskedWith): Promise<Admission> {
    const recognition = await this.#recognise(contact);
    if (recognition.kind === 'proven') return { kind: 'known', known: recognition.known };
    if (!this.#mayTry(contact)) return { kind: 'limited' };
    const known = await this.#admitAtOnce(contact, asked, recognition);
    if (known) {
      this.options.limiter.giveBack(contact.remoteAddress);
      return { kind: 'known', known };
    }
    if (recognition.firstUse !== 'none') this.#reportSecondClientId(contact);
    if (this.options.mode !== 'closed')
      return { kind: 'waiting', pending: await this.#queue(contact, recognition.replaces) };
    if (recognition.isKnown) this.#reportRejected(contact);
    return { kind: 'closed' };
  }

  /** Handles an activation request: whether the device is admitted, possibly by a chip's proof. */
  async isAdmitted(contact: OtaContact, proof: FactoryProof | undefined): Promise<boolean | 'limited'> {
    const recognition = await this.#recognise(contact);
    if (recognition.kind === 'proven') return true;
    if (!this.#waiting.has(keyOf(contact)) && !(await this.#mayPoll(contact))) return 'limited';
    return proof !== undefined && (await this.#admitByFactoryKey(contact, proof));
  }

  /**
   * Counts the request of a board that this process does not remember, unless it waits: another
   * process answered it, or this one did before a restart.
   */
  async #mayPoll(contact: OtaContact): Promise<boolean> {
    if (!this.#mayTry(contact)) return false;
    const challenge = await this.options.enrolments.challengeOf(contact);
    if (challenge === undefined) return true;
    this.#remember(contact, challenge);
    this.options.limiter.giveBack(contact.remoteAddress);
    return true;
  }

  async #recognise(contact: OtaContact): Promise<Recognition> {
    const { credentials, logger } = this.options;
    const recognition = await credentials.recognise(contact);
    if (recognition.kind === 'proven')
      credentials.contacted(contact).catch((error: unknown) => {
        logger.warn({ error, deviceId: contact.deviceId }, 'could not store the report of a device');
      });
    return recognition;
  }

  /** Runs the same statements for devices that are admitted and for those that are not. */
  async #admitAtOnce(
    contact: OtaContact,
    { hasMoved, token }: AskedWith,
    { firstUse }: Unproven,
  ): Promise<KnownDevice | undefined> {
    const { enrolments, mode } = this.options;
    const byFirstUse = firstUse === 'due' ? await enrolments.admitFirstUse(contact) : undefined;
    if (byFirstUse) return this.#recordApproval(byFirstUse, 'first_use');
    const byMove = hasMoved === true ? await enrolments.admitMoved(contact) : undefined;
    if (byMove) return this.#recordApproval(byMove, 'move');
    const byLink = token === undefined ? undefined : await enrolments.admitByLink(token, contact);
    if (byLink) return this.#recordApproval(byLink, 'link');
    const known = mode === 'open' ? await enrolments.admit(contact) : undefined;
    return known && this.#recordApproval(known, 'open');
  }

  async #admitByFactoryKey(contact: OtaContact, proof: FactoryProof): Promise<boolean> {
    const { enrolments, mode } = this.options;
    if (mode === 'closed') return false;
    const key = await enrolments.factoryKeyOf(proof.serial);
    if (key === undefined) return false;
    const { challenge } = await enrolments.request(contact);
    const known = isProofRight(proof, key, challenge)
      ? await enrolments.admit(contact, { serial: proof.serial })
      : undefined;
    if (known) this.#recordApproval(known, 'factory_key');
    return known !== undefined;
  }

  #recordApproval(known: KnownDevice, by: 'link' | 'open' | 'factory_key' | 'first_use' | 'move'): KnownDevice {
    const { deviceId } = known;
    this.options.events.write('enrolment.approved', deviceId, { by });
    this.options.feed.publish('device', { deviceId });
    return known;
  }

  async #queue(contact: OtaContact, replaces: boolean): Promise<PendingEnrolment> {
    const pending = await this.options.enrolments.request(contact);
    const isNew = this.#remember(contact, pending.challenge);
    // A blocked board waits as others do, and no operator is notified.
    if (isNew && !pending.isBlocked)
      this.options.events.write('enrolment.requested', contact.deviceId, { ...described(contact), replaces });
    return pending;
  }

  /** Returns true if the board did not wait with this challenge. */
  #remember(contact: OtaContact, challenge: string): boolean {
    const network = contact.remoteNetwork ?? addressKey(contact.remoteAddress ?? '');
    return this.#waiting.record(keyOf(contact), { challenge, network });
  }

  /**
   * Reports that trust on first use went to another Client-Id: one of the two boards is not the
   * registered one.
   */
  #reportSecondClientId(contact: OtaContact): void {
    if (this.#isFirst(`second ${keyOf(contact)}`))
      this.options.events.write('enrolment.second_client_id', contact.deviceId, described(contact));
  }

  /** Reports a rejected device: in mode `closed` it shows no code, only this event. */
  #reportRejected(contact: OtaContact): void {
    if (this.#isFirst(`refused ${contact.deviceId} ${String(Math.floor(contact.at / REFUSED_EVENT_EVERY_MS))}`))
      this.options.events.write('enrolment.refused', contact.deviceId, described(contact));
  }

  #isFirst(key: string): boolean {
    const isFirst = !this.#reported.has(key);
    this.#reported.set(key, true);
    return isFirst;
  }

  #mayTry({ remoteAddress, at }: OtaContact): boolean {
    return this.options.limiter.take(remoteAddress, at);
  }
}

function described({ firmwareVersion, model, remoteAddress }: OtaContact): Readonly<Record<string, unknown>> {
  return { model: model ?? null, firmwareVersion: firmwareVersion ?? null, remoteAddress: remoteAddress ?? null };
}

function keyOf({ clientUuid, deviceId }: OtaContact): string {
  return `${deviceId} ${createHash('sha256').update(clientUuid).digest('hex')}`;
}
