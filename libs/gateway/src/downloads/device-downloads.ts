/**
 * Combines the parts of downloads: the route and its counters. libs/fleet decides which device gets
 * which image.
 */
import type { EventFeed } from '@flotilla/bus';
import type { HubProcessId } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { BlobStore } from '@flotilla/storage';
import type { UrlSigner } from '../device-urls/url-signer.js';
import { GatewayCounters } from '../gateway-counters.js';
import type { GatewayCount } from '../gateway-counters.js';
import type { GatewayLogger } from '../gateway-logger.js';
import type { HttpRoute } from '../http-route.js';
import { EventLog } from '../sessions/event-log.js';
import { DownloadEndpoint } from './download-endpoint.js';
import { defaultDownloadLimits } from './download-limits.js';
import type { DownloadLimits } from './download-limits.js';

export interface DeviceDownloadsOptions {
  /** This process. */
  readonly serverId: HubProcessId;
  readonly registry: Pick<Registry, 'downloads' | 'events'>;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly signer: UrlSigner;
  readonly limits?: Partial<DownloadLimits>;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

export class DeviceDownloads {
  readonly httpRoutes: readonly HttpRoute[];
  readonly #counters = new GatewayCounters();
  readonly #endpoint: DownloadEndpoint;

  constructor({ feed, limits, ...options }: DeviceDownloadsOptions) {
    this.#endpoint = new DownloadEndpoint({
      ...options,
      events: new EventLog({ events: options.registry.events, feed, clock: options.clock }),
      limits: { ...defaultDownloadLimits, ...limits },
      count: this.#counters.add.bind(this.#counters, 'download'),
    });
    const handle: HttpRoute['handle'] = (request, response) => void this.#endpoint.answer(request, response);
    this.httpRoutes = (['GET', 'HEAD'] as const).map((method) => ({ method, path: '/t/download/*', handle }));
  }

  /** Active downloads in this process. */
  get running(): number {
    return this.#endpoint.running;
  }

  /** The process stops: from now on the hub cuts downloads, not the devices. */
  stop(): void {
    this.#endpoint.stop();
  }

  counts(): readonly GatewayCount[] {
    return this.#counters.list();
  }
}
