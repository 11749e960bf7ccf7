/** Checks the mail server of alerts: connects and signs in, and sends nothing. */
import { EmailSender } from '@flotilla/fleet';
import type { DoctorContext } from './doctor-context.js';
import { ok, problem, type Finding } from './finding.js';

const WITHIN_MS = 8_000;

export async function checkMail({ config }: DoctorContext): Promise<readonly Finding[]> {
  const { smtp } = config.alerts;
  if (smtp === undefined) return [];
  const sender = new EmailSender(smtp, WITHIN_MS);
  try {
    const found = await sender.problem();
    const { host } = new URL(smtp.url);
    return [
      found === undefined
        ? ok('mail', `${host} can be used`)
        : problem('mail', `${host}: ${found}`, 'Correct FLOTILLA_SMTP_URL, or start the mail server.'),
    ];
  } finally {
    sender.close();
  }
}
