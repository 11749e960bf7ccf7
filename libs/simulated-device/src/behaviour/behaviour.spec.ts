/** Each scripted behaviour has its effect, on the requests that it selects. */
import { describe, expect, it } from 'vitest';
import { BEHAVIOURS_MAX, behaviourSchema, type LastingBehaviour } from './behaviour.js';
import { BehaviourScript } from './behaviour-script.js';
import { DeviceOnBench } from '../device-on-bench.suite.js';

const status = 'self.get_device_status';

function callWith(...behaviours: LastingBehaviour[]): DeviceOnBench {
  const bench = new DeviceOnBench({ behaviours });
  bench.call(1, status);
  bench.waitUntil(500);
  return bench;
}

describe('behaviours', () => {
  it('silent runs the tool and sends nothing', () => {
    const bench = callWith({ kind: 'silent', tool: status });
    expect(bench.sent).toEqual([]);
    expect(bench.device.toolCounts.get(status)).toBe(1);
  });

  it('disconnectInCall breaks the link after the tool began, and plans to come back', () => {
    const bench = callWith({ kind: 'disconnectInCall' });
    expect(bench.device.toolCounts.get(status)).toBe(1);
    expect(bench.effects.map(({ effect }) => effect)).toEqual([
      { kind: 'close', how: 'abrupt' },
      { kind: 'reconnectAt', at: 10_000 },
    ]);
  });

  it('malformedReply is no JSON but shows its id', () => {
    const [text] = callWith({ kind: 'malformedReply' }).sent;
    expect(text).toContain('"id":1,');
    expect(() => JSON.parse(text ?? '')).toThrow(SyntaxError);
  });

  it('errorWithoutCode answers with a message alone', () => {
    expect(callWith({ kind: 'errorWithoutCode', message: 'Broken' }).lastReply().payload.error).toEqual({
      message: 'Broken',
    });
  });

  it('unescapedError breaks the frame', () => {
    expect(() => JSON.parse(callWith({ kind: 'unescapedError' }).sent[0] ?? '')).toThrow(SyntaxError);
  });

  it('duplicateReply sends the same twice', () => {
    const { sent } = callWith({ kind: 'duplicateReply' });
    expect(sent).toHaveLength(2);
    expect(sent[0]).toBe(sent[1]);
  });

  it('lateReply leaves later while other replies pass', () => {
    const bench = callWith({ kind: 'lateReply', ms: 2000, times: 1 });
    bench.call(2, status);
    bench.waitUntil(5000);
    expect(bench.replyTimes).toEqual([
      [2, 500],
      [1, 2000],
    ]);
  });

  it('outOfOrder follows the next reply, or leaves alone in the end', () => {
    const bench = callWith({ kind: 'outOfOrder', times: 1 });
    bench.call(2, status);
    expect(bench.replyTimes.map(([id]) => id)).toEqual([2, 1]);
    const lonely = callWith({ kind: 'outOfOrder', ms: 300 });
    expect(lonely.replyTimes).toEqual([[1, 300]]);
  });

  it('repeatingCursor and neverEndingPages spoil the listing', () => {
    const page = (
      kind: 'repeatingCursor' | 'neverEndingPages',
      cursor: string,
    ): Record<string, unknown> | undefined => {
      const bench = new DeviceOnBench({ behaviours: [{ kind }] });
      bench.mcp({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor } });
      return bench.lastReply().payload.result;
    };
    expect(page('repeatingCursor', 'self.reboot')).toMatchObject({ nextCursor: 'self.reboot' });
    expect(page('repeatingCursor', '')).toMatchObject({ nextCursor: status });
    expect(page('neverEndingPages', '')).toMatchObject({
      tools: [{ name: 'self.endless.0' }],
      nextCursor: 'self.endless.1',
    });
    expect(page('neverEndingPages', 'self.endless.7')).toMatchObject({
      tools: [{ name: 'self.endless.7' }],
      nextCursor: 'self.endless.8',
    });
  });

  it('notification is sent unasked', () => {
    const bench = new DeviceOnBench();
    bench.do((device, now) =>
      device.behave({ kind: 'notification', method: 'notifications/x', params: { a: 1 } }, now),
    );
    expect(JSON.parse(bench.sent[0] ?? '').payload).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/x',
      params: { a: 1 },
    });
  });

  it('duplicateId reconnects at once as another device', () => {
    const bench = new DeviceOnBench();
    bench.do((device, now) => device.behave({ kind: 'duplicateId', mac: '02:00:01:00:00:01' }, now));
    expect(bench.device.identity.clientId).toContain('@@@02_00_01_00_00_01@@@');
    expect(bench.turns.map(({ effect }) => effect)).toEqual([
      { kind: 'close', how: 'abrupt' },
      { kind: 'reconnectAt', at: 0 },
    ]);
  });

  it('normal drops what was scripted', () => {
    const bench = callWith({ kind: 'silent' });
    bench.do((device, now) => device.behave({ kind: 'normal' }, now));
    bench.call(2, status);
    expect(bench.replyTimes.map(([id]) => id)).toEqual([2]);
  });

  it('concern only the tool or method that they name', () => {
    expect(callWith({ kind: 'silent', tool: 'self.reboot' }).sent).toHaveLength(1);
    expect(callWith({ kind: 'silent', method: 'tools/list' }).sent).toHaveLength(1);
  });

  it('strike as often as they may, and as their chance has it', () => {
    const script = new BehaviourScript([{ kind: 'silent', times: 2 }], () => 0.5);
    expect([1, 2, 3].map(() => script.strike('silent') !== undefined)).toEqual([true, true, false]);
    const rare = new BehaviourScript([{ kind: 'silent', chance: 0.4 }], () => 0.5);
    expect(rare.strike('silent')).toBeUndefined();
  });

  it('are bounded: the oldest gives way', () => {
    const script = new BehaviourScript([{ kind: 'silent' }], () => 0);
    for (let count = 0; count < BEHAVIOURS_MAX; count++) script.add({ kind: 'duplicateReply' });
    expect(script.strike('silent')).toBeUndefined();
  });

  it('are refused as data when a member is unknown or out of range', () => {
    expect(behaviourSchema.safeParse({ kind: 'slow', ms: -1 }).success).toBe(false);
    expect(behaviourSchema.safeParse({ kind: 'silent', tol: 'x' }).success).toBe(false);
    expect(behaviourSchema.safeParse({ kind: 'slow', ms: 5, tool: 'x', times: 1 }).success).toBe(true);
  });
});
