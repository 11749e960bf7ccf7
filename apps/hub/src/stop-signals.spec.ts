import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { listenForStop } from './stop-signals.js';

function stage() {
  const source = new EventEmitter();
  const time = { now: 0 };
  const { first, atOnce } = listenForStop(source, () => time.now);
  const settled = (promise: Promise<NodeJS.Signals>) =>
    Promise.race([promise, Promise.resolve().then(() => 'pending' as const)]);
  return {
    send: (signal: NodeJS.Signals, at: number) => {
      time.now = at;
      source.emit(signal);
    },
    look: async () => [await settled(first), await settled(atOnce)],
  };
}

describe('the signals that stop the hub', () => {
  it('drain it for SIGTERM, also if npm or a shell forwards the signal again at once', async () => {
    const { send, look } = stage();
    expect(await look()).toEqual(['pending', 'pending']);
    send('SIGTERM', 0);
    send('SIGTERM', 900);
    expect(await look()).toEqual(['SIGTERM', 'pending']);
  });

  it('stop it at once for a second SIGTERM', async () => {
    const { send, look } = stage();
    send('SIGTERM', 0);
    send('SIGTERM', 1_000);
    expect(await look()).toEqual(['SIGTERM', 'SIGTERM']);
  });

  it.each(['SIGINT', 'SIGHUP'] as const)('stop it at once for %s, also during a drain', async (signal) => {
    const alone = stage();
    alone.send(signal, 0);
    expect(await alone.look()).toEqual([signal, signal]);
    const draining = stage();
    draining.send('SIGTERM', 0);
    draining.send(signal, 1);
    expect(await draining.look()).toEqual(['SIGTERM', signal]);
  });
});
