/** Counts calls as they settle, by standing between the parts: single calls at the fleet service, those of jobs at the bus. */
import type { Bus, CallRouter } from '@flotilla/bus';
import type { FleetOperations } from '@flotilla/api';
import type { Fleet } from '@flotilla/fleet';
import type { HubMetrics } from './metrics.js';

/** The bus with job calls counted: they are the ones that name the connection they are meant for. */
export function measuredBus(bus: Bus, metrics: HubMetrics): Bus {
  const calls: CallRouter = {
    serve: (gatewayId, server) => bus.calls.serve(gatewayId, server),
    refreshTools: (gatewayId, deviceId) => bus.calls.refreshTools(gatewayId, deviceId),
    disconnect: (gatewayId, deviceId) => bus.calls.disconnect(gatewayId, deviceId),
    awaited: () => bus.calls.awaited(),
    ended: (gatewayId) => bus.calls.ended(gatewayId),
    call: (gatewayId, routed, settle) => {
      if (routed.epoch === undefined) return bus.calls.call(gatewayId, routed, settle);
      const startedAt = performance.now();
      bus.calls.call(gatewayId, routed, (settled) => {
        metrics.callSettled('job', settled.outcome.kind, performance.now() - startedAt);
        settle(settled);
      });
    },
  };
  const { directory, feed, ticks, refused } = bus;
  return {
    ...{ directory, calls, feed, ticks, refused },
    get isReachable() {
      return bus.isReachable;
    },
    close: () => bus.close(),
  };
}

/** The fleet service with single calls counted, refused ones too. */
export function measuredFleet(fleet: Fleet, metrics: HubMetrics): FleetOperations {
  return {
    callTool: async (request, actor, ownUrl) => {
      const startedAt = performance.now();
      const answer = await fleet.callTool(request, actor, ownUrl);
      metrics.callSettled('single', answer.call?.outcome ?? 'REFUSED', performance.now() - startedAt);
      return answer;
    },
    chooseVoiceServers: (deviceId, text, actor) => fleet.chooseVoiceServers(deviceId, text, actor),
    createJob: (request, idempotencyKey, actor) => fleet.createJob(request, idempotencyKey, actor),
    pauseJob: (id, actor) => fleet.pauseJob(id, actor),
    resumeJob: (id, actor) => fleet.resumeJob(id, actor),
    cancelJob: (id, force, actor) => fleet.cancelJob(id, force, actor),
    previewJob: (request, actor) => fleet.previewJob(request, actor),
    rerunJob: (...rerun) => fleet.rerunJob(...rerun),
    approveJob: (id, actor) => fleet.approveJob(id, actor),
    denyJob: (id, reason, actor) => fleet.denyJob(id, reason, actor),
    createApiKey: (key, actor) => fleet.createApiKey(key, actor),
    revokeApiKey: (id, actor) => fleet.revokeApiKey(id, actor),
    createDeviceGroup: (request, actor) => fleet.createDeviceGroup(request, actor),
    updateDeviceGroup: (id, request, actor) => fleet.updateDeviceGroup(id, request, actor),
    deleteDeviceGroup: (id, actor) => fleet.deleteDeviceGroup(id, actor),
    setToolPolicy: (policy, actor) => fleet.setToolPolicy(policy, actor),
    deleteToolPolicy: (pattern, actor) => fleet.deleteToolPolicy(pattern, actor),
    revertJob: (id, idempotencyKey, actor) => fleet.revertJob(id, idempotencyKey, actor),
    openNextWave: (id, actor) => fleet.openNextWave(id, actor),
    refreshTools: (deviceId, actor) => fleet.refreshTools(deviceId, actor),
  };
}
