import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { abortOnStop, listenForStop } from './stop-signals.js';

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

describe('the signals that stop a command', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('abort it for %s, and end the process if it comes again later', (name) => {
    const source = new EventEmitter();
    const end = vi.fn<() => void>();
    const time = { now: 0 };
    const signal = abortOnStop(source, end, () => time.now);
    expect(signal.aborted).toBe(false);
    source.emit(name);
    // npm forwards what the terminal has already sent.
    time.now = 900;
    source.emit(name);
    expect(signal.reason).toMatchObject({ message: `Stopped by ${name}.` });
    expect(end).not.toHaveBeenCalled();
    time.now = 1_000;
    source.emit('SIGTERM');
    expect(end).toHaveBeenCalledOnce();
  });
});
