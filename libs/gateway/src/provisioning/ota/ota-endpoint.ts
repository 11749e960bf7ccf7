/**
 * The OTA endpoint, which every device asks at boot before it connects. It is plain HTTP without a
 * framework. It never answers 400, because a device could only repeat the same request. [xiaozhi
 * §7]
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeviceId } from '@flotilla/mcp';
import { withTimeout } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import type { OtaContact } from '@flotilla/registry';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { HttpRoute } from '../../http-route.js';
import { peerOf, type ClientAddress } from '../../sessions/session-host.js';
import { sendBytes, sendJson } from '../../send-json.js';
import type { JsonAnswer } from '../../send-json.js';
import { addressKey } from '../../overload/attempt-limiter.js';
import type { Admission, AskedWith, EnrolmentService } from '../enrolment/enrolment-service.js';
import { formerSuffix } from '../former/former-server.js';
import type { FormerAnswer } from '../former/former-server.js';
import type { PassThrough, Way } from '../former/pass-through.js';
import { readFactoryProof } from '../enrolment/factory-proof.js';
import { answerKnown, answerAnonymous, answerWaiting } from './ota-answer.js';
import type { Answered, AnswerSettings } from './ota-answer.js';
import { readOtaRequest } from './ota-request.js';
import type { OtaRequest } from './ota-request.js';
import { otaTarget } from './ota-target.js';
import type { OtaTarget } from './ota-target.js';
import { defaultBodyLimits, readBody } from '../../read-body.js';
import type { ReadBody } from '../../read-body.js';
import { noUpdate } from './firmware-answer.js';
import type { OfferedFirmware } from './update-offer.js';

interface OtaEndpointOptions {
  readonly enrolment: EnrolmentService;
  readonly settings: AnswerSettings;
  /** Decides which update an admitted device installs; without it there are no updates. */
  readonly updates?: Pick<OfferedFirmware, 'answerFor'> | undefined;
  /** Passes on requests of boards that have not moved; without it the hub answers all. */
  readonly former?: Pick<PassThrough, 'wayOf' | 'pass'> | undefined;
  readonly addressOf: ClientAddress;
  /** Called when a device that proved its identity has started. */
  readonly onBoot: (deviceId: DeviceId) => void;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
  readonly count: (outcome: OtaOutcome) => void;
}

// eslint-disable-next-line language/plain-words -- a public label of a metric
const ANONYMOUS = 'nobody';

export type OtaOutcome =
  | Admission['kind']
  | typeof ANONYMOUS
  | 'unavailable'
  | 'activation_admitted'
  | 'activation_waiting'
  | 'passed'
  | 'former_failed';

/**
 * How long PostgreSQL may delay an unproven device, ms. A device times out after 30 s and retries
 * after 10. [xiaozhi §6, §7.3]
 */
const ANSWER_TIMEOUT_MS = 3_000;
/** When a rejected device may try again, s. Devices follow their own schedule. */
const RETRY_AFTER_SECONDS = 10;

export class OtaEndpoint {
  readonly routes: readonly HttpRoute[];

  constructor(private readonly options: OtaEndpointOptions) {
    const handle: HttpRoute['handle'] = (request, response) => void this.#handle(request, response);
    this.routes = (['GET', 'POST'] as const).flatMap((method) =>
      ['/ota', '/ota/*'].map((path) => ({ method, path, handle })),
    );
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const body = await readBody(request, defaultBodyLimits, this.options.clock);
    if (body === undefined) return;
    const answer = await this.#reply(request, body);
    if ('contentType' in answer) sendBytes(response, answer.status, answer.body, headersOf(answer));
    else sendJson(response, answer, answer.status >= 429 ? { 'Retry-After': RETRY_AFTER_SECONDS } : {});
  }

  async #reply(request: IncomingMessage, body: ReadBody): Promise<JsonAnswer | FormerAnswer> {
    const { addressOf, clock, logger } = this.options;
    const ota = readOtaRequest(request.headers, body.bytes.toString('utf8'));
    const target = otaTarget(request.url ?? '');
    const contact = contactOf(ota, addressOf(request), clock.now());
    try {
      const way = await this.#wayOf(request, contact, target);
      if (way === 'there' || way === 'leaving') return await this.#passOn(request, body, { contact, target, way });
      if (contact === undefined) return this.#answerAnonymous(request, ota, target.isActivation);
      if (target.isActivation) return await this.#answerActivation(contact, ota);
      const asked = { token: target.token, hasMoved: way === 'moved' };
      return await this.#answer(contact, asked, this.#answered(request, ota));
    } catch (error) {
      logger.warn({ error, deviceId: contact?.deviceId }, 'an OTA request could not be answered');
      this.options.count('unavailable');
      return refusal(503, 'OVERLOADED', 'The hub cannot check this device now. Try again later.');
    }
  }

  async #wayOf(request: IncomingMessage, contact: OtaContact | undefined, target: OtaTarget): Promise<Way> {
    const { clock, former } = this.options;
    if (former === undefined || formerSuffix(request.url ?? '') === undefined) return 'here';
    return withTimeout(former.wayOf(contact, target), ANSWER_TIMEOUT_MS, clock);
  }

  async #passOn(
    request: IncomingMessage,
    { bytes, isWhole }: ReadBody,
    {
      contact,
      target,
      way,
    }: { readonly contact: OtaContact | undefined; readonly target: OtaTarget; readonly way: Way },
  ): Promise<JsonAnswer | FormerAnswer> {
    const { addressOf, count, former } = this.options;
    const { method = 'GET', rawHeaders, url = '' } = request;
    const suffix = formerSuffix(url) ?? '';
    const passed = { method, suffix, rawHeaders, body: bytes, address: addressOf(request) };
    const { isActivation } = target;
    const answer = isWhole ? await former?.pass({ request: passed, contact, isActivation, way }) : undefined;
    count(answer === undefined ? 'former_failed' : 'passed');
    return answer ?? formerFailed;
  }

  async #answer(contact: OtaContact, asked: AskedWith, answered: Answered): Promise<JsonAnswer> {
    const { clock, count, enrolment, settings, updates } = this.options;
    const admission = await withTimeout(enrolment.admit(contact, asked), ANSWER_TIMEOUT_MS, clock);
    count(admission.kind);
    switch (admission.kind) {
      case 'known': {
        this.options.onBoot(contact.deviceId);
        const firmware = (await updates?.answerFor(contact, answered.reached)) ?? answered.firmware;
        return { status: 200, body: answerKnown(settings, admission.known, { ...answered, firmware }) };
      }
      case 'waiting':
        return { status: 200, body: answerWaiting(settings, admission.pending, answered) };
      case 'closed':
        return refusal(
          403,
          'FORBIDDEN',
          'The hub admits only devices with a registered Client-Id or an enrolment link.',
        );
      case 'limited':
        return limited;
    }
  }

  async #answerActivation(contact: OtaContact, ota: OtaRequest): Promise<JsonAnswer> {
    const { clock, count, enrolment } = this.options;
    const isAdmitted = await withTimeout(
      enrolment.isAdmitted(contact, readFactoryProof(ota.body)),
      ANSWER_TIMEOUT_MS,
      clock,
    );
    if (isAdmitted === 'limited') {
      count('limited');
      return limited;
    }
    count(isAdmitted ? 'activation_admitted' : 'activation_waiting');
    return isAdmitted ? { status: 200, body: { success: true } } : { status: 202, body: { success: false } };
  }

  /**
   * Answers a request without a MAC or a Client-Id: a person with a browser, or a device that keeps
   * its settings.
   */
  #answerAnonymous(request: IncomingMessage, ota: OtaRequest, isActivation: boolean): JsonAnswer {
    this.options.count(ANONYMOUS);
    if (isActivation) return { status: 202, body: { success: false } };
    return { status: 200, body: answerAnonymous(this.options.settings, this.#answered(request, ota)) };
  }

  #answered(request: IncomingMessage, ota: OtaRequest): Answered {
    return {
      now: this.options.clock.now(),
      reached: {
        localAddress: peerOf(request.socket).localAddress,
        host: request.headers.host,
        deviceId: ota.deviceId,
      },
      firmware: noUpdate(ota.firmwareVersion),
    };
  }
}

const limited = refusal(429, 'OVERLOADED', 'Too many unknown devices have asked from this address. Try again later.');

const formerFailed = refusal(
  502,
  'UNAVAILABLE',
  'The former server of this board has no usable answer. Try again later.',
);

/** Boards ignore the first two. In a browser, an answer must not act as a page of this hub. */
function headersOf({ contentEncoding, contentType }: FormerAnswer): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    ...(contentType !== undefined && { 'Content-Type': contentType }),
    ...(contentEncoding !== undefined && { 'Content-Encoding': contentEncoding }),
  };
}

function refusal(status: 403 | 429 | 502 | 503, code: string, message: string): JsonAnswer {
  return { status, body: { code, message } };
}

function contactOf(ota: OtaRequest, remoteAddress: string | undefined, at: number): OtaContact | undefined {
  const { board, clientUuid, deviceId, firmwareVersion, model, resetReason } = ota;
  if (deviceId === undefined || clientUuid === undefined) return undefined;
  const remoteNetwork = remoteAddress === undefined ? undefined : addressKey(remoteAddress);
  return { deviceId, clientUuid, model, firmwareVersion, board, resetReason, remoteAddress, remoteNetwork, at };
}
