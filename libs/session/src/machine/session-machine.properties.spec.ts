import type { CallId } from '@flotilla/mcp';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { initialState } from './machine-state.js';
import type { MachineState } from './machine-state.js';
import type { SessionInput } from './session-input.js';
import { defaultSessionLimits, rememberedRequestsMax } from '../session-limits.js';
import { step } from './session-machine.js';
import { XiaozhiDialect } from '../xiaozhi/xiaozhi-dialect.js';

const dialect = new XiaozhiDialect();
const limits = {
  ...defaultSessionLimits,
  waitingCallsMax: 3,
  toolPagesMax: 4,
  toolsMax: 5,
  greetingTimeoutMs: 40,
  listingTimeoutMs: 40,
  lateReplyMs: 60,
  largeRequestBytes: 150,
  largeRequestTrialMs: 30,
};
const largeArguments = { text: 'x'.repeat(limits.largeRequestBytes) };
const idMax = dialect.requestIdMax;

/** A random input, or an answer to an id near those in use. */
const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      isLarge: fc.boolean(),
      queueMs: fc.nat(50),
      timeoutMs: fc.integer({ min: 0, max: 50 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      idsAgo: fc.oneof(fc.constant(1), fc.integer({ min: -1, max: 6 })),
      members: fc.constantFrom(
        '"result":{"content":[{"type":"text","text":"true"}]}',
        '"result":{"tools":[{"name":"a"}],"nextCursor":"b"}',
        '"result":{"tools":[{"name":"b"}],"nextCursor":"c"}',
        '"result":{"tools":[{"name":"c"}]}',
        '"error":{"message":"Unknown tool: x"}',
        '"error":{"message":"a"b"}',
        '"result":1,"error":{}',
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wake' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refresh' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sendFailed' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('text' as const), text: fc.oneof(fc.string(), fc.json()) }),
  },
);

it('settles every call exactly once and stays within its limits, for any order of inputs', () => {
  const happening = fc.tuple(fc.nat(30), event);
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 60 }),
      fc.integer({ min: idMax - 20, max: idMax }),
      fc.boolean(),
      (happenings, firstId, isCut) => {
        const settlements = new Map<string, number>();
        let state: MachineState = initialState(firstId);
        let now = 0;
        let endings = 0;
        const put = (input: SessionInput) => {
          const result = step({ dialect, limits }, state, input);
          state = result.state;
          for (const effect of result.effects) {
            if (effect.kind === 'settle') effect.settle(effect.settled);
            if (effect.kind === 'stateChanged' && effect.state === 'closed') endings += 1;
            if (effect.kind === 'toolsDiscovered')
              expect(effect.discovered.tools.length).toBeLessThanOrEqual(limits.toolsMax);
            if (effect.kind === 'send' && effect.id !== undefined) expect(state.inFlight?.id).toBe(effect.id);
          }
          expect(state.waiting.length).toBeLessThanOrEqual(limits.waitingCallsMax);
          expect(state.remembered.size).toBeLessThanOrEqual(rememberedRequestsMax);
          if (state.inFlight !== undefined) expect(state.remembered.has(state.inFlight.id)).toBe(false);
          expect(state.nextId).toBeGreaterThanOrEqual(1);
          expect(state.nextId).toBeLessThanOrEqual(idMax);
        };
        put({ kind: 'start', now });
        happenings.forEach(([ms, it], at) => {
          now += ms;
          if (it.kind === 'call') {
            const callId = String(at);
            settlements.set(callId, 0);
            put({
              kind: 'call',
              now,
              call: {
                callId: callId as CallId,
                tool: 't',
                arguments: it.isLarge ? largeArguments : {},
                queueDeadlineAt: now + it.queueMs,
                callTimeoutMs: it.timeoutMs,
              },
              settle: (settled) => settlements.set(settled.callId, (settlements.get(settled.callId) ?? 0) + 1),
            });
          } else if (it.kind === 'answer') {
            const id = ((state.nextId - it.idsAgo + idMax - 1) % idMax) + 1;
            put({
              kind: 'message',
              now,
              message: dialect.read(`{"type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${it.members}}}`),
            });
          } else if (it.kind === 'text') {
            put({ kind: 'message', now, message: dialect.read(it.text) });
          } else if (it.kind === 'sendFailed') {
            put({ kind: 'sendFailed', now, id: state.inFlight?.id ?? 1 });
          } else {
            put({ kind: it.kind, now });
          }
        });
        put(
          isCut
            ? { kind: 'transportClosed', reason: 'connection_lost', now }
            : { kind: 'close', reason: 'hub_closed', now },
        );
        put({ kind: 'close', reason: 'hub_stopping', now });
        expect([...settlements.values()].every((times) => times === 1)).toBe(true);
        expect(endings).toBe(1);
      },
    ),
    { numRuns: 500 },
  );
});
