import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { SessionDrain } from './session-drain.js';
import type { DrainedSession, DrainPlan } from './session-drain.js';

class FakeSession implements DrainedSession {
  pendingCalls = 0;
  isConversing = false;
  left: { readonly isMoving: boolean; readonly at: number } | undefined;

  constructor(private readonly stage: Stage) {}

  leave(isMoving: boolean): void {
    this.left ??= { isMoving, at: this.stage.clock.now() };
    this.stage.live.delete(this);
  }
}

class Stage {
  readonly clock = new ManualClock();
  readonly live = new Set<FakeSession>();
  hasSuccessor = true;

  add(count: number, change: Partial<Pick<FakeSession, 'pendingCalls' | 'isConversing'>> = {}): FakeSession[] {
    return Array.from({ length: count }, () => {
      const session = Object.assign(new FakeSession(this), change);
      this.live.add(session);
      return session;
    });
  }

  drain(plan: Partial<DrainPlan> = {}): SessionDrain<FakeSession> {
    return new SessionDrain({
      clock: this.clock,
      withinMs: 60_000,
      hasSuccessor: () => this.hasSuccessor,
      sessions: () => this.live,
      onLeaving: () => undefined,
      ...plan,
    });
  }
}

const isFinished = (drain: SessionDrain<FakeSession>): Promise<boolean> =>
  Promise.race([drain.finished.then(() => true), Promise.resolve().then(() => false)]);

describe('a drain with a successor', () => {
  it('closes idle devices evenly over three quarters of its time', async () => {
    const stage = new Stage();
    stage.add(10_000);
    const drain = stage.drain();
    stage.clock.advance(22_500);
    expect(Math.abs(stage.live.size - 5_000)).toBeLessThan(200);
    expect(await isFinished(drain)).toBe(false);
    stage.clock.advance(22_600);
    expect(stage.live.size).toBe(0);
    expect(await isFinished(drain)).toBe(true);
  });

  it('does not take longer than a small fleet needs', async () => {
    const stage = new Stage();
    stage.add(20);
    const drain = stage.drain();
    stage.clock.advance(500);
    expect(await isFinished(drain)).toBe(true);
  });

  it('closes a session when its calls have settled, and rejects new ones until then', () => {
    const stage = new Stage();
    const [busy] = stage.add(1, { pendingCalls: 2 });
    const drain = stage.drain();
    expect(drain.refuses(busy)).toBe(true);
    stage.clock.advance(5_000);
    expect(busy?.left).toBeUndefined();
    Object.assign(busy ?? {}, { pendingCalls: 0 });
    stage.clock.advance(100);
    expect(busy?.left).toMatchObject({ isMoving: true });
  });

  it('accepts calls for a session until its turn comes', () => {
    const stage = new Stage();
    const sessions = stage.add(10_000);
    const drain = stage.drain();
    expect([drain.refuses(sessions[0]), drain.refuses(sessions[9_999])]).toEqual([true, false]);
  });

  it('lets conversations end by themselves, and closes their device then', async () => {
    const stage = new Stage();
    const [talking, idle] = [...stage.add(1, { isConversing: true }), ...stage.add(1)];
    const drain = stage.drain();
    stage.clock.advance(50_000);
    expect([talking?.left, idle?.left]).toMatchObject([undefined, { isMoving: true }]);
    Object.assign(talking ?? {}, { isConversing: false });
    stage.clock.advance(200);
    expect(talking?.left).toBeDefined();
    expect(await isFinished(drain)).toBe(true);
  });

  it('ends after its time, also if a call or a conversation still runs', async () => {
    const stage = new Stage();
    stage.add(1, { pendingCalls: 1 });
    stage.add(1, { isConversing: true });
    const drain = stage.drain();
    stage.clock.advance(59_000);
    expect(await isFinished(drain)).toBe(false);
    stage.clock.advance(1_000);
    expect(await isFinished(drain)).toBe(true);
    expect(stage.live.size).toBe(2);
  });
});

describe('a drain without a successor', () => {
  it('closes all idle devices at once, those in conversation too, and waits only for calls', async () => {
    const stage = new Stage();
    stage.hasSuccessor = false;
    stage.add(10_000);
    stage.add(1, { isConversing: true });
    const [busy] = stage.add(1, { pendingCalls: 1 });
    const drain = stage.drain();
    expect(stage.live).toEqual(new Set([busy]));
    Object.assign(busy ?? {}, { pendingCalls: 0 });
    stage.clock.advance(200);
    expect(busy?.left).toMatchObject({ isMoving: false });
    expect(await isFinished(drain)).toBe(true);
  });

  it('begins when the last successor stops as well', () => {
    const stage = new Stage();
    stage.add(10_000);
    stage.drain();
    expect(stage.live.size).toBeGreaterThan(9_000);
    stage.hasSuccessor = false;
    stage.clock.advance(100);
    expect(stage.live.size).toBe(0);
  });
});
