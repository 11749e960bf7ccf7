import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { TransactionContext } from './transaction-context.js';

const connection = () => new pg.Client() as unknown as pg.PoolClient;

it('gives each of several transactions its own connection until it ends', async () => {
  const context = new TransactionContext();
  const [short, long] = [connection(), connection()];
  const seen = { short: [] as unknown[], long: [] as unknown[] };
  let end = () => undefined as void;
  const shortEnded = new Promise<void>((resolve) => (end = resolve));
  const running = context.during(long, async () => {
    seen.long.push(context.connection);
    await shortEnded;
    await setImmediate();
    seen.long.push(context.connection);
  });
  await context.during(short, async () => {
    await setImmediate();
    seen.short.push(context.connection);
  });
  end();
  await running;
  expect(seen.short).toEqual([short]);
  expect(seen.long[0]).toBe(long);
  expect(seen.long[1]).toBe(long);
});

it('has no connection outside of transactions, also after a failed one', async () => {
  const context = new TransactionContext();
  expect(context.connection).toBeUndefined();
  await expect(context.during(connection(), () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(context.connection).toBeUndefined();
  const next = connection();
  await context.during(next, async () => {
    await setImmediate();
    expect(context.connection).toBe(next);
  });
  expect(context.connection).toBeUndefined();
});
