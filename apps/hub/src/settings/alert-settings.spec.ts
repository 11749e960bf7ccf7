import { expect, it } from 'vitest';
import { readConfig } from './config.js';

const from = { FLOTILLA_SMTP_FROM: 'hub@example.net' };

it('names a mail server, with a percent-encoded password', () => {
  const url = 'smtps://hub:100%25@mail.example.net';
  expect(readConfig({ ...from, FLOTILLA_SMTP_URL: url }).alerts.smtp).toMatchObject({ url });
});

it.each([
  ['mail.example.net', 'FLOTILLA_SMTP_URL must be a URL that begins with smtp: or smtps:'],
  ['smtps://hub:100%@mail.example.net', 'Write %25 for it'],
  ['smtps://100%:word@mail.example.net', 'Write %25 for it'],
])('refuses the mail server %s', (url, problem) => {
  expect(() => readConfig({ ...from, FLOTILLA_SMTP_URL: url })).toThrow(problem);
});
