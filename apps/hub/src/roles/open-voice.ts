/** Voice servers of the gateway and their rights, from settings and registry. */
import { Fleet, type CallAnswer, type CallObserver, type CallRules } from '@flotilla/fleet';
import type { VoiceAnswer, VoiceCalls, VoiceOptions } from '@flotilla/gateway';
import type { SharedServices } from './shared-services.js';
import { voiceServerAt } from './voice-server-at.js';
import { answerOr } from '../answer-or.js';
import { systemClock } from '../system-clock.js';

/**
 * Time to look up the voice servers of a device, ms. After that the default servers are used,
 * because the device waits for its hello.
 */
const LOOKUP_MS = 2_000;

export function openVoice(
  { bus, config, lease, logger, processes, registry, singleCalls, tracer }: SharedServices,
  callRules: CallRules,
  observeCall: CallObserver,
): VoiceOptions {
  const { approvals, timeZone, verification, voice } = config;
  const fleet = new Fleet({
    registry,
    bus,
    clock: systemClock,
    logger,
    callRules,
    singleCalls,
    processes,
    tracer,
    approvals,
    verification,
    timeZone,
    observeCall,
  });
  return {
    checksAddress: voice.checksAddress,
    known: voice.urls,
    report: (servers) => registry.voiceServers.report(lease.id, servers),
    calls: voiceCalls(fleet),
    serversOf: async (deviceId) => {
      const own = await answerOr(registry.deviceGroups.voiceUrlsOf(deviceId), [], LOOKUP_MS);
      return (own.length === 0 ? voice.urls : own).map((url) => voiceServerAt(url, voice));
    },
  };
}

/** Calls of voice servers pass the same policy, records and audit as all others. */
function voiceCalls(fleet: Fleet): VoiceCalls {
  return {
    callTool: async ({ deviceId, backend, tool, arguments: args, timeoutMs, mayCallUserOnly }) => {
      const name = `voice:${backend}`;
      // The person at the device asks, so the limit on disrupted devices counts per device.
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
