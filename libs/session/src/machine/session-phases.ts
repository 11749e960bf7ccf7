/** Entering and leaving the states of a session. */
import type { CloseReason } from '@flotilla/mcp';
import { settleAllCalls } from './call-queue.js';
import { noneRemembered } from './machine-state.js';
import type { Turn } from './machine-state.js';
import type { SessionAnomaly, SessionState } from '../session-contract.js';

export function enterPhase(turn: Turn, phase: SessionState, reason?: CloseReason): void {
  turn.state = { ...turn.state, phase };
  turn.effects.push({ kind: 'stateChanged', state: phase, reason });
}

/** Ends the session at once: whatever the transport still has to say comes after the end. Pending calls are settled before that is told. */
export function endSession(turn: Turn, reason: CloseReason, transport: 'open' | 'ended'): void {
  enterPhase(turn, 'closing', reason);
  settleAllCalls(turn);
  if (transport === 'open') turn.effects.push({ kind: 'closeTransport', reason });
  turn.state = { ...turn.state, remembered: noneRemembered, isRefreshWanted: false };
  enterPhase(turn, 'closed', reason);
}

export function reportAnomaly(turn: Turn, anomaly: SessionAnomaly, detail: string): void {
  turn.effects.push({ kind: 'anomaly', anomaly, detail });
}
