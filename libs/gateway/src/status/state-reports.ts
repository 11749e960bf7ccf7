/**
 * Stores the results of status tools and reports changes. A device that repeats itself costs no
 * write.
 */
import type { Bus } from '@flotilla/bus';
import { isJsonObject, parseJsonText } from '@flotilla/mcp';
import type { JsonObject, ToolResult } from '@flotilla/mcp';
import type { DeviceStore, EventStore } from '@flotilla/registry';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';
import { stateChanges } from './state-changes.js';
import type { WatchedSession } from './watched-session.js';

export interface StateReportsOptions {
  readonly registry: { readonly devices: Pick<DeviceStore, 'report'>; readonly events: Pick<EventStore, 'append'> };
  readonly bus: { readonly feed: Pick<Bus['feed'], 'publish'> };
  readonly clock: { now(): number };
  readonly limits: Pick<GatewayLimits, 'reportedStateBytesMax'>;
  readonly logger: GatewayLogger;
}

export class StateReports {
  /** The last text of each session that was taken. */
  readonly #texts = new WeakMap<WatchedSession, string>();

  constructor(private readonly options: StateReportsOptions) {}

  /** Takes a result; ignores it if it is not a JSON object or too large. Never rejects. */
  async take(session: WatchedSession, tool: string, result: ToolResult | undefined): Promise<void> {
    const { epoch } = session.record;
    const text = result?.content.find(({ type }) => type === 'text')?.['text'];
    if (epoch === undefined || typeof text !== 'string' || this.#texts.get(session) === text) return;
    const state = this.#parse(text);
    if (state === undefined) return;
    this.#texts.set(session, text);
    try {
      await this.#keep(session, { epoch, tool, state });
    } catch (error) {
      this.#texts.delete(session);
      this.options.logger.warn({ error, deviceId: session.deviceId }, 'the state that a device reported was not kept');
    }
  }

  async #keep(
    { deviceId, record }: WatchedSession,
    report: { readonly epoch: number; readonly tool: string; readonly state: JsonObject },
  ): Promise<void> {
    const { bus, clock, registry } = this.options;
    const at = clock.now();
    const former = await registry.devices.report({ deviceId, ...report, at });
    // The announcement of the newer session was lost, such as in an outage of Redis.
    if (!former.isCurrent) return record.superseded();
    const changes = stateChanges(former.state, report.state);
    if (changes.length === 0) return;
    const event = registry.events.append({
      type: 'device.state_changed',
      deviceId,
      at,
      data: { tool: report.tool, changes },
    });
    bus.feed.publish('event', event);
    bus.feed.publish('device', { deviceId });
  }

  #parse(text: string): JsonObject | undefined {
    if (Buffer.byteLength(text) > this.options.limits.reportedStateBytesMax) return undefined;
    const state = parseJsonText(text);
    return isJsonObject(state) ? state : undefined;
  }
}
