import { expect, it } from 'vitest';
import { readConfig } from './config.js';

const adminKey = (key: string) => readConfig({ FLOTILLA_ADMIN_KEY: key }).adminKey;

it.each(['k'.repeat(32), `${'k'.repeat(500)}/+=_-.~"`, 'schlüssel'.repeat(4)])('accepts the admin key %s', (key) => {
  expect(adminKey(`${key}\n`)).toBe(key);
});

it.each([
  ['that is short', 'k'.repeat(31), 'must have at least 32 characters'],
  ['with spaces', 'correct horse battery staple correct', 'no spaces'],
  ['with a space that does not break', `${'k'.repeat(32)}\u00a0k`, 'no spaces'],
  ['with a control character', `${'k'.repeat(32)}\u0007`, 'no control characters'],
  ['with letters outside of Latin-1', 'ключ'.repeat(10), 'no letters outside of Latin-1'],
  ['that is longer than the API looks up', 'k'.repeat(513), 'at most 512 characters'],
])('refuses an admin key %s', (_case, key, problem) => {
  expect(() => adminKey(key)).toThrow(problem);
});
