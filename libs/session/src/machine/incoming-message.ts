/**
 * Handles messages of the device: an answer finds its request by id alone; everything else is
 * passed on or counted.
 */
import { quoteText } from '@flotilla/mcp';
import { outcomeOf } from './call-outcomes.js';
import type { Answer } from './call-outcomes.js';
import { settleCall } from './call-queue.js';
import type { DeviceError, DialectMessage } from '../dialect.js';
import { requestAnswered } from './large-requests.js';
import { greetingAnswered, greetingFailed } from './greeting.js';
import { pageFailed, pageReceived } from './listing/listing.js';
import type { InFlight, PendingCall, Turn } from './machine-state.js';
import { recall, wasIssued } from './request-ids.js';
import { reportAnomaly } from './session-phases.js';

/** UTF-16 code units of a logged anomaly. A device can cause one with each message. */
const anomalyDetailMax = 200;

export function takeMessage(turn: Turn, message: DialectMessage): void {
  switch (message.kind) {
    case 'result':
    case 'error':
      return takeAnswer(turn, message.id, message);
    case 'garbled':
      reportAnomaly(turn, message.anomaly, quoteText(`${message.problem}: ${message.text}`, anomalyDetailMax));
      // An unexpected id in a garbled message is not a second anomaly.
      if (message.id !== undefined && isExpected(turn, message.id)) takeAnswer(turn, message.id, message);
      return;
    case 'unread':
      return takeUnread(turn, message.error);
    case 'notification':
      turn.effects.push({ kind: 'notification', method: message.method, params: message.params });
      return;
    case 'request':
      // Devices ignore answers to their requests, so the hub sends no error.
      return reportAnomaly(turn, 'device_request', quoteText(message.method, anomalyDetailMax));
    case 'message':
      if (!message.isKnown) reportAnomaly(turn, 'unknown_message_type', quoteText(message.type, anomalyDetailMax));
      turn.effects.push({ kind: 'deviceMessage', type: message.type, message: message.message });
  }
}

/**
 * A board rejects each part of a line that it received in parts. The next request waits until the
 * last rejection can have arrived. [mcpu §1.3]
 */
const unreadGraceMs = 150;

function takeUnread(turn: Turn, error: DeviceError): void {
  const { inFlight } = turn.state;
  if (inFlight === undefined)
    return reportAnomaly(turn, 'unknown_reply_id', quoteText(`no id: ${error.message}`, anomalyDetailMax));
  if (inFlight.unread !== undefined) return;
  const deadlineAt = Math.min(inFlight.deadlineAt, turn.now + unreadGraceMs);
  turn.state = { ...turn.state, inFlight: { ...inFlight, unread: error, deadlineAt } };
}

function isExpected({ state }: Turn, id: number): boolean {
  return state.inFlight?.id === id || state.remembered.has(id);
}

export function takeAnswer(turn: Turn, id: number, answer: Answer): void {
  const { inFlight } = turn.state;
  if (inFlight === undefined || inFlight.id !== id) return takeStrayAnswer(turn, id, answer);
  turn.state = { ...turn.state, inFlight: undefined };
  requestAnswered(turn, inFlight.kind === 'call' && inFlight.isLarge);
  switch (inFlight.kind) {
    case 'call':
      return callAnswered(turn, inFlight.pending, inFlight.sentAt, answer);
    case 'greeting':
      return answer.kind === 'result' ? greetingAnswered(turn, answer.result) : greetingFailed(turn, inFlight.isRetry);
    case 'page':
      return pageAnswered(turn, inFlight, answer);
  }
}

function callAnswered(turn: Turn, pending: PendingCall, sentAt: number, answer: Answer): void {
  const outcome = outcomeOf(answer, turn.rules.dialect, pending.call.tool);
  // The tool list that the caller used is out of date.
  if (outcome.error?.code === 'TOOL_GONE') turn.state = { ...turn.state, isRefreshWanted: true };
  settleCall(turn, pending, outcome, sentAt);
}

function pageAnswered(turn: Turn, { listing }: Extract<InFlight, { kind: 'page' }>, answer: Answer): void {
  const page = answer.kind === 'result' ? turn.rules.dialect.readPage(answer.result) : undefined;
  if (page !== undefined) return pageReceived(turn, listing, page);
  const problem =
    answer.kind === 'error'
      ? answer.error.message
      : answer.kind === 'garbled'
        ? answer.problem
        : 'the result has no list of tools';
  pageFailed(turn, listing, quoteText(`The device's listing failed: ${problem}`, anomalyDetailMax));
}

/** Handles an answer without a waiting request: late, duplicate, or with an unknown id. */
function takeStrayAnswer(turn: Turn, id: number, answer: Answer): void {
  const request = recall(turn, id);
  if (request === undefined) {
    const isOurs = wasIssued(turn.state, id, turn.rules.dialect.requestIdMax);
    return reportAnomaly(turn, isOurs ? 'duplicate_reply' : 'unknown_reply_id', `id ${id}`);
  }
  reportAnomaly(turn, 'late_reply', `id ${id}, ${turn.now - request.sentAt} ms after the request`);
  requestAnswered(turn, request.isLarge);
  if (request.call === undefined) return;
  const { callId, tool } = request.call;
  const outcome = outcomeOf(answer, turn.rules.dialect, tool);
  turn.effects.push({ kind: 'lateOutcome', late: { callId, outcome, sentAt: request.sentAt, settledAt: turn.now } });
}
