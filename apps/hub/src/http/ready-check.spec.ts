import { expect, it } from 'vitest';
import { onceASecond } from './ready-check.js';

it('asks once for all callers during the request and for a second after it', async () => {
  let now = 0;
  let asked = 0;
  const answers: ((value: number) => void)[] = [];
  const check = onceASecond(
    () => {
      asked += 1;
      return new Promise<number>((resolve) => answers.push(resolve));
    },
    () => now,
  );
  const many = Array.from({ length: 1_000 }, () => check());
  now = 5_000;
  many.push(check());
  expect(asked).toBe(1);
  answers[0]?.(7);
  expect(new Set(await Promise.all(many))).toEqual(new Set([7]));
  now = 5_999;
  expect(await check()).toBe(7);
  now = 6_000;
  const next = check();
  expect(asked).toBe(2);
  answers[1]?.(8);
  expect(await next).toBe(8);
});

it('asks again a second after a failure', async () => {
  let now = 0;
  let asked = 0;
  const check = onceASecond(
    () => Promise.reject(new Error(`failure ${String((asked += 1))}`)),
    () => now,
  );
  await expect(check()).rejects.toThrow('failure 1');
  await expect(check()).rejects.toThrow('failure 1');
  now = 1_000;
  await expect(check()).rejects.toThrow('failure 2');
});
