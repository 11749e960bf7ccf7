import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import { askAuth } from './auth-question.js';
import type { AuthAnswer } from './auth-question.js';
import { granted } from './device-auth.js';
import type { AuthVerdict } from './device-auth.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function put(ask: () => AuthVerdict | Promise<AuthVerdict>) {
  const clock = new ManualClock();
  const answers: AuthAnswer[] = [];
  const logged: unknown[] = [];
  const logger = { error: (details: unknown) => logged.push(details) };
  askAuth({ ask, subject: { deviceId: 'd' } }, { clock, limits: { authTimeoutMs: 5000 }, logger }, (answer) =>
    answers.push(answer),
  );
  return { clock, answers, logged };
}

it('answers at once where the verdict is there at once', () => {
  const { answers, clock } = put(() => granted);
  expect(answers).toEqual([granted]);
  expect(clock.timers).toBe(0);
});

it('leaves no timer behind a verdict that came in time', async () => {
  const { answers, clock } = put(() => Promise.resolve(granted));
  await settled();
  expect(answers).toEqual([granted]);
  expect(clock.timers).toBe(0);
});

it('stops waiting at the timeout, and a later grant admits no device', async () => {
  let grantLate: () => void = () => undefined;
  const late = new Promise<AuthVerdict>((resolve) => {
    grantLate = () => resolve(granted);
  });
  const { answers, clock, logged } = put(() => late);
  clock.advance(4999);
  expect(answers).toEqual([]);
  clock.advance(1);
  await settled();
  expect(answers).toEqual([{ kind: 'undecided' }]);
  expect(logged).toMatchObject([{ deviceId: 'd' }]);
  grantLate();
  await settled();
  expect(answers).toEqual([{ kind: 'undecided' }]);
});

it.each([
  ['rejects', () => Promise.reject(new Error('away'))],
  [
    'throws',
    () => {
      throw new Error('away');
    },
  ],
])('is undecided where the check %s', async (_how, ask) => {
  const { answers, clock } = put(ask);
  await settled();
  expect(answers).toEqual([{ kind: 'undecided' }]);
  expect(clock.timers).toBe(0);
});
