import { describe, expect, it } from 'vitest';
import { SingleCalls } from '../../calls/single-calls.js';
import { StatementQueue } from './statement-queue.js';

/** Statements that run until a spec ends them, and the names of those that have begun. */
class Statements {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, (error?: Error) => void>();

  begin = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      this.begun.push(name);
      this.#ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
    });

  end(name: string, error?: Error): void {
    this.#ends.get(name)?.(error);
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

describe('StatementQueue', () => {
  it('runs statements side by side while no single call is expected', async () => {
    const queue = new StatementQueue({ areExpected: false });
    const statements = new Statements();
    void queue.run(statements.begin('claim'));
    void queue.run(statements.begin('flush'));
    expect(statements.begun).toEqual(['claim', 'flush']);
    expect(queue.rowsMax).toBe(500);
  });

  it('runs them one after the other beside single calls, also after one that failed', async () => {
    const queue = new StatementQueue({ areExpected: true });
    const statements = new Statements();
    const claim = queue.run(statements.begin('claim'));
    const flush = queue.run(statements.begin('flush'));
    const next = queue.run(statements.begin('next'));
    await settled();
    expect(statements.begun).toEqual(['claim']);
    statements.end('claim', new Error('PostgreSQL is away'));
    await expect(claim).rejects.toThrow('away');
    await settled();
    expect(statements.begun).toEqual(['claim', 'flush']);
    statements.end('flush');
    expect(await flush).toBe('flush');
    await settled();
    statements.end('next');
    expect(await next).toBe('next');
    expect(queue.rowsMax).toBe(200);
  });
});

describe('SingleCalls', () => {
  it('are expected while one is under way, failed or not, and for a second after it', async () => {
    let now = 5_000;
    const calls = new SingleCalls({ now: () => now });
    expect(calls.areExpected).toBe(false);
    let fail: (error: Error) => void = () => undefined;
    const call = calls.during(() => new Promise<never>((_resolve, reject) => (fail = reject)));
    now += 60_000;
    expect(calls.areExpected).toBe(true);
    fail(new Error('no such device'));
    await expect(call).rejects.toThrow('no such device');
    now += 999;
    expect(calls.areExpected).toBe(true);
    now += 1;
    expect(calls.areExpected).toBe(false);
  });
});
