import { expect, it } from 'vitest';
import { readConfig } from './config.js';

const adminKey = (key: string) => readConfig({ FLOTILLA_ADMIN_KEY: key }).adminKey;

it.each(['k'.repeat(32), `${'k'.repeat(500)}/+=_-.~"`])('accepts an admin key that a client can send', (key) => {
  expect(adminKey(`${key}\n`)).toBe(key);
});

it.each([
  ['that is short', 'k'.repeat(31), 'must have at least 32 characters'],
  ['with spaces', 'correct horse battery staple correct', 'no spaces'],
  ['with letters outside of ASCII', 'ключ'.repeat(10), 'signs of ASCII'],
  ['that is longer than the API looks up', 'k'.repeat(513), 'at most 512 characters'],
])('refuses an admin key %s', (_case, key, problem) => {
  expect(() => adminKey(key)).toThrow(problem);
});
