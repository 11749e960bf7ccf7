import { ManualClock } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, listed, openServer, RelayStage } from './relay-stage.suite.js';
import type { VoiceLimits } from '../voice-limits.js';

afterEach(closeAll);

async function converse(limits: Partial<VoiceLimits>, clock?: Clock) {
  const server = await openServer();
  const stage = await RelayStage.set({ servers: [listed(server)], limits, ...(clock && { clock }) });
  const { conversation } = await stage.converse('websocket', 1);
  return { conversation, heard: await server.conversation(), server, stage };
}

const reasons = (stage: RelayStage) =>
  stage.device.reports.map(({ reason }) => reason).filter((reason) => reason !== undefined);

describe('the limits of a conversation', () => {
  it.each([
    ['idle', { idleMs: 100 }],
    ['too_long', { idleMs: 100, lengthMsMax: 50 }],
  ])('end one that is %s, on both sides', async (reason, limits) => {
    const { heard, stage } = await converse(limits);
    await vi.waitFor(() => expect(reasons(stage)).toEqual([reason]));
    expect(stage.device.hangUps).toEqual(['conversation_ended']);
    await vi.waitFor(() => expect(heard.socket.readyState).toBe(heard.socket.CLOSED));
    expect(stage.relay.size).toBe(0);
  });

  it.each([
    ['its calls have ended', 0, 20],
    ['its calls have taken 5 s', 1, 4_020],
  ])('keep the connection of the device until %s', async (_what, calls, leftMs) => {
    const clock = new ManualClock(1_000);
    const { heard, stage } = await converse({}, clock);
    stage.device.calls = 1;
    heard.socket.close();
    await vi.waitFor(() => expect(reasons(stage)).toEqual(['backend_closed']));
    clock.advance(1_000);
    expect(stage.device.hangUps).toEqual([]);
    stage.device.calls = calls;
    clock.advance(leftMs);
    expect(stage.device.hangUps).toEqual(['conversation_ended']);
  });

  it('count audio of either side as activity', async () => {
    const clock = new ManualClock(1_000);
    const { conversation, heard, stage } = await converse({ idleMs: 400 }, clock);
    for (let n = 1; n <= 8; n += 1) {
      clock.advance(399);
      if (n % 2 === 0) conversation.heardAudio(Buffer.from([n]));
      else heard.socket.send(Buffer.from([n]));
      await vi.waitFor(() => expect([...stage.device.frames, ...heard.frames]).toHaveLength(n));
    }
    expect(reasons(stage)).toEqual([]);
    clock.advance(800);
    expect(reasons(stage)).toEqual(['idle']);
  });

  it('end an idle one also when the clock is set back', async () => {
    const clock = new ManualClock(10_000_000);
    const { stage } = await converse({ idleMs: 400 }, clock);
    clock.step(-3_600_000);
    clock.advance(800);
    expect(reasons(stage)).toEqual(['idle']);
  });

  it('end one that is too long, and report no negative length, also when the clock is set back', async () => {
    const [clock, other] = [new ManualClock(10_000_000), new ManualClock(10_000_000)];
    const { stage } = await converse({ lengthMsMax: 20_000 }, clock);
    clock.step(-3_600_000);
    clock.advance(30_000);
    expect(reasons(stage)).toEqual(['too_long']);

    const short = await converse({}, other);
    other.step(-3_600_000);
    short.conversation.end('device_gone');
    for (const { device } of [stage, short.stage])
      expect(device.reports.at(-1)?.['durationMs']).toBeGreaterThanOrEqual(0);
  });

  it('leave a conversation beyond the maximum without voice', async () => {
    const { stage } = await converse({ conversationsMax: 1 });
    await stage.converse('websocket', 1);
    expect(reasons(stage)).toEqual(['the hub has as many conversations as it takes']);
    expect(stage.relay.size).toBe(1);
  });

  it('disconnect a server that answers late, and keep the conversation with the next one', async () => {
    const [late, next] = [await openServer(), await openServer()];
    const { hello } = late;
    late.hello = undefined;
    const servers = [late, next].map((one) => listed(one));
    const clock = new ManualClock(1_000);
    const stage = await RelayStage.set({ servers, limits: { backendTimeoutMs: 100 }, clock });
    const begun = stage.converse('websocket', 1);
    const asked = await late.conversation();
    clock.advance(100);
    const { conversation } = await begun;
    asked.socket.send(hello ?? '');
    asked.socket.send(Buffer.from([9]));
    const heard = await next.conversation();
    conversation.heardAudio(Buffer.from([1]));
    heard.socket.send(Buffer.from([2]));
    await vi.waitFor(() => expect(stage.device.frames).toEqual([Buffer.from([2])]));
    await vi.waitFor(() => expect(asked.socket.readyState).toBe(asked.socket.CLOSED));
    expect(asked.frames).toEqual([]);
    expect(stage.relay.size).toBe(1);
  });

  it('drop and count audio for a server that does not read, and end the conversation if that persists', async () => {
    const { conversation, heard, stage } = await converse({ backendUnsentBytesMax: 50_000, backendStallMsMax: 100 });
    heard.socket.pause();
    const speak = setInterval(() => {
      for (let n = 0; n < 50; n += 1) conversation.heardAudio(Buffer.alloc(20_000, 1));
    }, 5);
    try {
      await vi.waitFor(() => expect(reasons(stage)).toEqual(['backend_stalled']), 10_000);
    } finally {
      clearInterval(speak);
    }
    expect(stage.count('frames_dropped_backend_stalled')).toBeGreaterThan(0);
  });

  it('do not end the conversation with a server that reads again, although the device is silent', async () => {
    const clock = new ManualClock(1_000);
    const { conversation, heard, stage } = await converse({ backendUnsentBytesMax: 50_000 }, clock);
    heard.socket.pause();
    await vi.waitFor(() => {
      for (let n = 0; n < 50; n += 1) conversation.heardAudio(Buffer.alloc(20_000, 1));
      expect(stage.count('frames_dropped_backend_stalled')).toBeGreaterThan(0);
    });
    heard.socket.resume();
    await vi.waitFor(() => expect(heard.frames).toHaveLength(stage.count('frames_from_device')));
    clock.advance(10_000);
    expect(reasons(stage)).toEqual([]);
  });
});
