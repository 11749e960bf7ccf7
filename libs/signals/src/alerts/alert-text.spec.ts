import { expect, it } from 'vitest';
import type { AlertFacts } from './alert-facts.js';
import { messageOf, summaryOf } from './alert-text.js';
import type { AlertLanguage } from './alert-text.js';

it('a long line ends between two characters: a half one would be refused by chats', () => {
  const at = Date.UTC(2027, 0, 15, 8);
  const lineOf = (label: string): string => {
    const facts = { kind: 'DEVICE_OFFLINE', ruleName: 'rule', beganFrom: at, beganTo: at, label } as const;
    const alert = { id: '1', severity: 'INFO', facts, isGroup: false, deviceCount: 1, firedAt: at } as const;
    const options = { language: 'en', timeZone: 'UTC', consoleUrl: undefined } as const;
    return messageOf([{ ...alert, resolvedAt: undefined }], false, options).lines[0] ?? '';
  };
  const lines = ['', 'a'].map((start) => lineOf(start + '🔋'.repeat(200)));
  expect(lines.map((line) => encodeURIComponent(line).endsWith(encodeURIComponent('🔋…')))).toEqual([true, true]);
});

const at = Date.UTC(2027, 0, 15, 8);
const summary = (language: AlertLanguage, facts: Pick<AlertFacts, 'kind'> & Partial<AlertFacts>) =>
  summaryOf(
    {
      facts: { ruleName: 'rule', label: 'Lamp', beganFrom: at, beganTo: at, ...facts },
      isGroup: false,
      deviceCount: 1,
    },
    { language, timeZone: 'UTC' },
  );

it.each([
  [0.004, 0.0049, 'above 0.004 (0.0049)'],
  [30, 41.5371249, 'above 30 (41.5371)'],
  [1_000_000, 1_234_567.891, 'above 1,000,000 (1,234,567.89)'],
])('shows a measured value so that it differs from a small limit: %s, %s', (threshold, value, words) => {
  const facts = { kind: 'MEASUREMENT', path: 'samples:gas', threshold, value } as const;
  expect(summary('en', facts)).toContain(words);
  expect(summary('zh', facts)).toContain(words.replace('above', '高于').replace(' (', '（').replace(')', '）'));
});

it.each([
  [
    { kind: 'FLEET_OFFLINE_SHARE', value: 1, total: 1, threshold: 0.0004 },
    /^100 % of 1 device is .*\(limit 0.04 %\)\.$/,
  ],
  [
    { kind: 'FLEET_OFFLINE_SHARE', value: 1 / 3, total: 3, threshold: 0.1 },
    /^33.3 % of 3 devices are .*\(limit 10 %\)\.$/,
  ],
  [{ kind: 'CALL_FAILURE_RATIO', value: 0.5, total: 8, windowSeconds: 90 }, /^50 % of 8 calls in 1.5 minutes failed /],
  [{ kind: 'UNEXPECTED_RESTARTS', value: 1, windowSeconds: 60 }, /: 1 time in 1 minute, /],
  [{ kind: 'UNEXPECTED_RESTARTS', value: 3, windowSeconds: 10 }, /: 3 times in 10 seconds, /],
] as const)('counts in the singular and in seconds where that is right: %o', (facts, words) => {
  expect(summary('en', facts)).toMatch(words);
});

it('counts seconds in Chinese, too', () => {
  expect(summary('zh', { kind: 'UNEXPECTED_RESTARTS', value: 3, windowSeconds: 10 })).toContain(
    '在 10 秒内异常重启 3 次',
  );
});
