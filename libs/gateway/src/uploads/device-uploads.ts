/**
 * Combines the parts of picture uploads: the vision service of devices, their routes, and the
 * intake that people's uploads share.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventFeed } from '@flotilla/bus';
import type { VisionService } from '@flotilla/mcp';
import type { Registry, UploadRow } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { BlobStore } from '@flotilla/storage';
import type { UrlSigner } from '../device-urls/url-signer.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { HttpRoute } from '../http-route.js';
import type { DeviceAddresses } from '../provisioning/device-addresses.js';
import { drain } from '../read-body.js';
import { EventLog } from '../sessions/event-log.js';
import type { VisionCustomer } from '../sessions/vision-customer.js';
import { DeviceGrants } from './device-grants.js';
import { UploadSlots } from './upload-slots.js';
import { PictureIntake } from './picture-intake.js';
import { ScreenEndpoints } from './screen-endpoints.js';
import { Thumbnails } from './thumbnails.js';
import { sendJson } from '../send-json.js';
import type { JsonAnswer } from '../send-json.js';
import { defaultUploadLimits } from './upload-limits.js';
import type { UploadLimits } from './upload-limits.js';
import { refusalAnswer, UploadRefusal } from './upload-refusal.js';
import type { VisionAnswerer } from './vision-answerer.js';
import { VisionEndpoint } from './vision-endpoint.js';

interface DeviceUploadsOptions {
  readonly registry: Pick<Registry, 'devices' | 'events' | 'uploads'>;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly blobs: BlobStore;
  readonly signer: UrlSigner;
  readonly addresses: DeviceAddresses;
  readonly answerer?: VisionAnswerer | undefined;
  readonly limits?: Partial<UploadLimits>;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

export class DeviceUploads {
  readonly httpRoutes: readonly HttpRoute[];
  readonly #limits: UploadLimits;
  readonly #grants: DeviceGrants;
  readonly #intake: PictureIntake;
  readonly #thumbnails: Thumbnails;

  constructor(private readonly options: DeviceUploadsOptions) {
    const { answerer, blobs, clock, feed, logger, registry, signer } = options;
    const { devices, events, uploads } = registry;
    const limits = { ...defaultUploadLimits, ...options.limits };
    const slots = new UploadSlots(limits, clock);
    this.#limits = limits;
    this.#grants = new DeviceGrants(signer);
    this.#thumbnails = new Thumbnails({ uploads, blobs, limits, logger });
    const shared = { uploads, blobs, limits, clock, logger };
    this.#intake = new PictureIntake({
      ...shared,
      thumbnails: this.#thumbnails,
      events: new EventLog({ events, feed, clock }),
    });
    const parts = { ...shared, slots, grants: this.#grants, intake: this.#intake };
    const vision = new VisionEndpoint({ ...parts, devices, answerer });
    const screen = new ScreenEndpoints(parts);
    this.httpRoutes = [
      this.#route('POST', '/vision', (request) => vision.answer(request)),
      this.#route('POST', '/t/snapshot/*', (request) => screen.takeSnapshot(request)),
      this.#route('GET', '/t/preview/*', (request, response) => screen.sendPreview(request, response)),
    ];
  }

  /** Returns the vision service for `initialize`; undefined if no address is known. */
  visionFor({ reached, ...grant }: VisionCustomer): VisionService | undefined {
    const url = this.options.addresses.urlOf('/vision', reached);
    return url === undefined ? undefined : { url, token: this.#grants.visionToken(grant) };
  }

  /** Stores a person's picture. Throws UploadRefusal after the body was read. */
  async takeImage(request: IncomingMessage): Promise<UploadRow> {
    try {
      return await this.#intake.take(request, { kind: 'IMAGE', deviceId: undefined });
    } catch (error) {
      await drain(request, this.#limits, this.options.clock);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#thumbnails.close();
  }

  /** `act` returns the answer, or has already answered. Its exceptions become answers. */
  #route(
    method: HttpRoute['method'],
    path: string,
    act: (request: IncomingMessage, response: ServerResponse) => Promise<JsonAnswer | void>,
  ): HttpRoute {
    const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      response.on('error', () => undefined);
      request.on('error', () => undefined);
      const answer = await act(request, response).catch((error: unknown) => this.#refusalOf(error, path));
      await drain(request, this.#limits, this.options.clock);
      if (answer) sendJson(response, answer);
    };
    return { method, path, handle: (request, response) => void handle(request, response) };
  }

  #refusalOf(error: unknown, path: string): JsonAnswer {
    if (error instanceof UploadRefusal) {
      this.options.logger.debug({ path, code: error.code }, 'rejected an upload');
      return refusalAnswer(error);
    }
    this.options.logger.error({ err: error, path }, 'an upload failed');
    return refusalAnswer(new UploadRefusal('UNAVAILABLE', 'The hub failed to process the upload. Try again later.'));
  }
}
