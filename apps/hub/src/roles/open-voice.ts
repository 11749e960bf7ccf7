/** Where conversations go, and what voice servers may do there: settings and the registry put together for the gateway. */
import { Fleet, type CallAnswer, type ToolGate } from '@flotilla/fleet';
import type { VoiceAnswer, VoiceCalls, VoiceOptions, VoiceServer } from '@flotilla/gateway';
import type { Ground } from './ground.js';
import { inTime } from '../in-time.js';
import { systemClock } from '../system-clock.js';

/** A device waits for its hello: where PostgreSQL does not answer, the hub's own voice servers are asked. */
const LOOKUP_MS = 2_000;

export function openVoice({ bus, config, lease, logger, processes, registry, singleCalls }: Ground, gate: ToolGate): VoiceOptions {
  const { approvals, verification, voice } = config;
  const fleet = new Fleet({ registry, bus, clock: systemClock, logger, gate, singleCalls, processes, approvals, verification });
  // Who may set a device's voice server need not be one who may know the hub's token.
  const trusted = new Set(voice.urls.map((url) => new URL(url).origin));
  const serverAt = (url: string): VoiceServer => ({ url, token: trusted.has(new URL(url).origin) ? voice.token : undefined });
  return {
    mayCallUserOnly: voice.mayCallUserOnly,
    checksAddress: voice.checksAddress,
    known: voice.urls,
    report: (servers) => registry.voiceServers.report(lease.id, servers),
    calls: voiceCalls(fleet, voice.mayCallUserOnly),
    serversOf: async (deviceId) => {
      const own = await inTime(registry.deviceGroups.voiceUrlsOf(deviceId), [], LOOKUP_MS);
      return (own.length === 0 ? voice.urls : own).map(serverAt);
    },
  };
}

/** Voice servers call as everybody does: with policy, record and audit, in their own name. */
function voiceCalls(fleet: Fleet, mayCallUserOnly: boolean): VoiceCalls {
  return {
    call: async ({ deviceId, backend, tool, arguments: args, timeoutMs }) => {
      const name = `voice:${backend}`;
      const actor = { id: name, name, mayCallUserOnly, mayChangeFirmware: false };
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
