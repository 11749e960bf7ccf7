/** Where conversations go, and what voice servers may do there: settings and the registry put together for the gateway. */
import { Fleet, type CallAnswer, type ToolGate } from '@flotilla/fleet';
import type { VoiceAnswer, VoiceCalls, VoiceOptions } from '@flotilla/gateway';
import type { SharedServices } from './shared-services.js';
import { voiceServerAt } from './voice-server-at.js';
import { withTimeout } from '../with-timeout.js';
import { systemClock } from '../system-clock.js';

/** A device waits for its hello: where PostgreSQL does not answer, the hub's own voice servers are asked. */
const LOOKUP_MS = 2_000;

export function openVoice(
  { bus, config, lease, logger, processes, registry, singleCalls }: SharedServices,
  gate: ToolGate,
): VoiceOptions {
  const { approvals, verification, voice } = config;
  const fleet = new Fleet({
    registry,
    bus,
    clock: systemClock,
    logger,
    gate,
    singleCalls,
    processes,
    approvals,
    verification,
  });
  return {
    checksAddress: voice.checksAddress,
    known: voice.urls,
    report: (servers) => registry.voiceServers.report(lease.id, servers),
    calls: voiceCalls(fleet),
    serversOf: async (deviceId) => {
      const own = await withTimeout(registry.deviceGroups.voiceUrlsOf(deviceId), [], LOOKUP_MS);
      return (own.length === 0 ? voice.urls : own).map((url) => voiceServerAt(url, voice));
    },
  };
}

/** Calls of voice servers have policy, record and audit like all others; a server is an actor. */
function voiceCalls(fleet: Fleet): VoiceCalls {
  return {
    call: async ({ deviceId, backend, tool, arguments: args, timeoutMs, mayCallUserOnly }) => {
      const name = `voice:${backend}`;
      // It is the person at the device who asks, so no voice server runs out of devices that it may disrupt.
      const actor = {
        id: name,
        owner: `device:${deviceId}`,
        name,
        mayCallUserOnly,
        mayRestart: mayCallUserOnly,
        mayChangeFirmware: false,
      };
      try {
        return answerOf(await fleet.callTool({ deviceId, tool, arguments: args, timeoutMs }, actor));
      } catch {
        return { kind: 'error', message: 'The hub could not make the call; nothing was sent.', isInvalid: false };
      }
    },
  };
}

function answerOf({ call, refusal }: CallAnswer): VoiceAnswer {
  if (call?.result !== undefined) return { kind: 'result', result: call.result };
  const message = call?.error?.message ?? refusal?.message ?? 'The call has no outcome.';
  return { kind: 'error', message, isInvalid: call?.outcome === 'REJECTED' };
}
