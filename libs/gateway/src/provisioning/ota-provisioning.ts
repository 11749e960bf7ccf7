/**
 * Combines the parts of provisioning: the OTA endpoint that issues credentials, and the check of
 * these credentials.
 */
import type { Bus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { CredentialAuth } from '../auth/credential-auth.js';
import type { DeviceAuth } from '../auth/device-auth.js';
import type { UrlSigner } from '../device-urls/url-signer.js';
import { directAddress, type ClientAddress } from '../sessions/session-host.js';
import { EventLog } from '../sessions/event-log.js';
import { GatewayCounters } from '../gateway-counters.js';
import type { GatewayCount } from '../gateway-counters.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { HttpRoute } from '../http-route.js';
import { EnrolmentService } from './enrolment/enrolment-service.js';
import type { EnrolmentMode } from './enrolment/enrolment-service.js';
import { AttemptLimiter } from '../overload/attempt-limiter.js';
import type { AnswerSettings } from './ota/ota-answer.js';
import { OtaEndpoint } from './ota/ota-endpoint.js';
import type { FormerServer } from './former/former-server.js';
import { addedBoardLimits, PassThrough } from './former/pass-through.js';
import { publishContacts } from './publish-contacts.js';
import { OfferedFirmware } from './ota/update-offer.js';
import type { UpdateOffer } from './ota/update-offer.js';

export interface OtaProvisioningOptions {
  readonly registry: Pick<Registry, 'credentials' | 'enrolments' | 'events' | 'movingBoards'>;
  readonly bus: { readonly feed: Pick<Bus['feed'], 'publish'> };
  readonly settings: AnswerSettings;
  readonly mode: EnrolmentMode;
  /** Which updates devices install; without it there are no updates. */
  readonly updates?: { readonly offer: UpdateOffer; readonly signer: UrlSigner } | undefined;
  /** Answers boards that have not moved; without it the hub answers all. */
  readonly former?: FormerServer | undefined;
  /** Determines the address of a client; by default the address of its connection. */
  readonly addressOf?: ClientAddress;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

export class OtaProvisioning {
  /** Checks the credentials that the endpoint issues. */
  readonly auth: DeviceAuth;
  readonly httpRoutes: readonly HttpRoute[];
  readonly #counters = new GatewayCounters();

  constructor(private readonly options: OtaProvisioningOptions) {
    const { addressOf = directAddress, bus, clock, logger, mode, registry, settings } = options;
    const updates =
      options.updates && new OfferedFirmware({ ...options.updates, addresses: settings.addresses, clock, logger });
    const { credentials, enrolments, movingBoards: boards } = registry;
    const events = new EventLog({ events: registry.events, feed: bus.feed, clock });
    publishContacts({ credentials, feed: bus.feed, events });
    const server = options.former;
    const isReleased = server && ((deviceId: DeviceId) => boards.noteAttempt(deviceId));
    this.auth = new CredentialAuth({ credentials, events, isReleased, clock });
    const former =
      server &&
      new PassThrough({
        server,
        boards,
        credentials,
        events,
        feed: bus.feed,
        clock,
        logger,
        limiter: new AttemptLimiter(addedBoardLimits),
      });
    const enrolment = new EnrolmentService({
      credentials,
      enrolments,
      feed: bus.feed,
      events,
      mode,
      logger,
      limiter: new AttemptLimiter(),
    });
    const count = this.#counters.add.bind(this.#counters, 'ota');
    this.httpRoutes = new OtaEndpoint({
      enrolment,
      settings,
      updates,
      former,
      addressOf,
      onBoot: (deviceId) => bus.feed.publish('restarted', { deviceId }),
      clock,
      logger,
      count,
    }).routes;
  }

  /** Loads every known device into memory, so that answers continue without PostgreSQL. */
  async start(): Promise<void> {
    await this.options.registry.credentials.allKnown();
  }

  counts(): readonly GatewayCount[] {
    return this.#counters.list();
  }
}
