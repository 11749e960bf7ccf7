import { expect, it } from 'vitest';
import { readConfig } from './config.js';

const from = { FLOTILLA_SMTP_FROM: 'hub@example.net' };

it.each(['hub:100%25', 'hub:100%', '100%:word'])('names a mail server, with the account %s', (account) => {
  const url = `smtps://${account}@mail.example.net`;
  expect(readConfig({ ...from, FLOTILLA_SMTP_URL: url }).alerts.smtp).toMatchObject({ url });
});

it.each(['mail.example.net', 'https://mail.example.net'])('refuses the mail server %s', (url) => {
  const problem = 'FLOTILLA_SMTP_URL must be a URL that begins with smtp: or smtps:';
  expect(() => readConfig({ ...from, FLOTILLA_SMTP_URL: url })).toThrow(problem);
});
