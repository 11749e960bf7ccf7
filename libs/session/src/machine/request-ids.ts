/**
 * Request ids: from 1 to the dialect's maximum, then from 1 again; never 0, and never one whose
 * late answer would still be recognised.
 */
import { rememberedRequestsMax } from '../session-limits.js';
import type { InFlight, MachineState, RememberedRequest, Turn } from './machine-state.js';

/** Returns the next id to use. `register` advances the state. */
export function freeId(state: MachineState, idMax: number): number {
  let id = state.nextId;
  while (state.remembered.has(id)) id = following(id, idMax);
  return id;
}

/** Puts the request in flight before its bytes are sent, so that no answer can arrive too early. */
export function register(turn: Turn, inFlight: InFlight): void {
  const { state, rules } = turn;
  turn.state = {
    ...state,
    inFlight,
    nextId: following(inFlight.id, rules.dialect.requestIdMax),
    issuedIds: state.issuedIds + 1,
  };
}

/** Takes the request out of flight and remembers it for a late answer. */
export function remember(turn: Turn, request: InFlight): void {
  const { state, rules, now } = turn;
  const remembered = new Map(state.remembered);
  for (const [id, { forgetAt }] of remembered) {
    if (forgetAt > now && remembered.size < rememberedRequestsMax) break;
    remembered.delete(id);
  }
  const isLarge = request.kind === 'call' && request.isLarge;
  remembered.set(request.id, {
    call: callOf(request),
    isLarge,
    sentAt: request.sentAt,
    forgetAt: now + rules.limits.lateReplyMs,
  });
  turn.state = { ...state, inFlight: undefined, remembered };
}

function callOf(request: InFlight): RememberedRequest['call'] {
  if (request.kind !== 'call' || request.pending.call.isBackground === true) return undefined;
  const { callId, tool } = request.pending.call;
  return { callId, tool };
}

/** Returns the remembered request with this id and forgets it: it can be late only once. */
export function recall(turn: Turn, id: number): RememberedRequest | undefined {
  const request = turn.state.remembered.get(id);
  if (request === undefined) return undefined;
  const remembered = new Map(turn.state.remembered);
  remembered.delete(id);
  turn.state = { ...turn.state, remembered };
  return request.forgetAt > turn.now ? request : undefined;
}

/** Whether this session has used the id. */
export function wasIssued(state: MachineState, id: number, idMax: number): boolean {
  const idsAgo = (state.nextId - id + idMax) % idMax;
  return id >= 1 && id <= idMax && idsAgo >= 1 && idsAgo <= state.issuedIds;
}

function following(id: number, idMax: number): number {
  return id >= idMax ? 1 : id + 1;
}
