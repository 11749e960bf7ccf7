/** Settings of alerts: how messages are written, and the mail server that sends some of them. */
import type { SmtpSettings } from '@flotilla/fleet';
import type { z } from 'zod';
import { choice, matching, optionalUrl } from './setting-kinds.js';

export const alertSettings = {
  FLOTILLA_LANGUAGE: choice(['en', 'zh'], 'en'),
  FLOTILLA_SMTP_URL: optionalUrl(['smtp:', 'smtps:']),
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
