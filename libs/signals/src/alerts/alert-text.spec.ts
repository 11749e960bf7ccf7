import { expect, it } from 'vitest';
import { messageOf } from './alert-text.js';

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
