/** The bridge to Home Assistant, in the worker role. Loaded only if there is a broker. */
import { Fleet, type CallRules } from '@flotilla/fleet';
import type { HubMetrics } from '../measures/metrics.js';
import { systemClock } from '../system-clock.js';
import type { OpenPictures } from './open-pictures.js';
import type { SharedServices } from './shared-services.js';

export async function openHomeAssistant(
  { bus, closers, config, logger, processes, registry, singleCalls, tracer }: SharedServices,
  callRules: CallRules,
  metrics: HubMetrics,
  { downloadOrigin }: OpenPictures,
): Promise<void> {
  const { approvals, homeAssistant: settings, mustBeSigned, timeZone, verification } = config;
  if (settings === undefined) return;
  const { HomeAssistantBridge } = await import('@flotilla/home-assistant');
  const clock = systemClock;
  const fleet = new Fleet({
    registry,
    bus,
    clock,
    logger,
    callRules,
    singleCalls,
    processes,
    tracer,
    approvals,
    mustBeSigned,
    verification,
    timeZone,
    downloadOrigin,
    observeCall: (...call) => metrics.callSettled(...call),
  });
  const bridge = new HomeAssistantBridge({ settings, registry, fleet, feed: bus.feed, clock, logger });
  metrics.addHomeAssistant(bridge);
  bridge.start();
  closers.add('home assistant', () => bridge.stop());
}
