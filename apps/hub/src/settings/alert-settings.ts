/** Settings of alerts: how messages are written, and the mail server that sends some of them. */
import type { SmtpSettings } from '@flotilla/fleet';
import type { z } from 'zod';
import { checked, choice, matching } from './setting-kinds.js';

export const alertSettings = {
  FLOTILLA_LANGUAGE: choice(['en', 'zh'], 'en'),
  FLOTILLA_SMTP_URL: checked(mailServerProblem),
  FLOTILLA_SMTP_FROM: matching(/^[^\p{Cc}]*[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, 'must be an e-mail address on one line'),
};

export interface AlertConfig {
  readonly language: 'en' | 'zh';
  /** Undefined: no e-mail is sent. */
  readonly smtp: SmtpSettings | undefined;
}

type Values = z.infer<z.ZodObject<typeof alertSettings>>;

export function alertsOf({ FLOTILLA_LANGUAGE: language, ...values }: Values): AlertConfig {
  const { FLOTILLA_SMTP_FROM: from, FLOTILLA_SMTP_URL: url } = values;
  return { language, smtp: url === undefined || from === undefined ? undefined : { url, from } };
}

export function alertContradictions({ FLOTILLA_SMTP_FROM: from, FLOTILLA_SMTP_URL: url }: Values): string[] {
  return (url === undefined) === (from === undefined)
    ? []
    : ['FLOTILLA_SMTP_URL names the mail server and FLOTILLA_SMTP_FROM the sender. Set both or none.'];
}

/** Does not repeat the URL, which may have a password. */
function mailServerProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['smtp:', 'smtps:'].includes(url.protocol))
    return 'must be a URL that begins with smtp: or smtps:';
  try {
    decodeURIComponent(`${url.username}:${url.password}`);
    return undefined;
  } catch {
    return 'has a % in the user name or password that is not percent-encoded. Write %25 for it';
  }
}
