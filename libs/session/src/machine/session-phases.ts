/** Transitions between the states of a session. */
import type { CloseReason } from '@flotilla/mcp';
import { settleAllCalls } from './call-queue.js';
import { noRememberedRequests } from './machine-state.js';
import type { Turn } from './machine-state.js';
import type { SessionAnomaly, SessionState } from '../session-contract.js';

export function enterPhase(turn: Turn, phase: SessionState, reason?: CloseReason): void {
  turn.state = { ...turn.state, phase };
  turn.effects.push({ kind: 'stateChanged', state: phase, reason });
}

/**
 * Ends the session immediately and ignores later messages. Pending calls are settled before
 * `closed` is reported.
 */
export function endSession(turn: Turn, reason: CloseReason, transport: 'open' | 'ended'): void {
  enterPhase(turn, 'closing', reason);
  settleAllCalls(turn);
  if (transport === 'open') turn.effects.push({ kind: 'closeTransport', reason });
  turn.state = { ...turn.state, remembered: noRememberedRequests, isRefreshWanted: false };
  enterPhase(turn, 'closed', reason);
}

export function reportAnomaly(turn: Turn, anomaly: SessionAnomaly, detail: string): void {
  turn.effects.push({ kind: 'anomaly', anomaly, detail });
}
