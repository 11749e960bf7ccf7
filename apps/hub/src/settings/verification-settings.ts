/** Settings of verification: the times that devices may take to prove a restart or an upgrade. */
import { verificationMsMax, verificationTimes, type VerificationTimes } from '@flotilla/jobs';
import type { z } from 'zod';
import { seconds } from './setting-kinds.js';

export const verificationSettings = {
  FLOTILLA_VERIFY_REBOOT_SECONDS: seconds({
    fallbackMs: verificationTimes.rebootMs,
    min: 1,
    max: verificationMsMax / 1_000,
  }),
  FLOTILLA_VERIFY_DEADLINE_SECONDS: seconds({
    fallbackMs: verificationTimes.firmwareMs,
    min: 1,
    max: verificationMsMax / 1_000,
  }),
  FLOTILLA_VERIFY_SOAK_SECONDS: seconds({ fallbackMs: verificationTimes.soakMs, min: 0, max: 3_600 }),
  FLOTILLA_VERIFY_OVERDUE_SECONDS: seconds({ fallbackMs: verificationTimes.overdueMs, min: 0, max: 86_400 }),
};

type Values = z.infer<z.ZodObject<typeof verificationSettings>>;

export function verificationOf(values: Values): VerificationTimes {
  return {
    ...verificationTimes,
    rebootMs: values.FLOTILLA_VERIFY_REBOOT_SECONDS,
    firmwareMs: values.FLOTILLA_VERIFY_DEADLINE_SECONDS,
    soakMs: values.FLOTILLA_VERIFY_SOAK_SECONDS,
    overdueMs: values.FLOTILLA_VERIFY_OVERDUE_SECONDS,
  };
}

export function verificationContradictions(values: Values): string[] {
  if (values.FLOTILLA_VERIFY_SOAK_SECONDS < values.FLOTILLA_VERIFY_DEADLINE_SECONDS) return [];
  return ['FLOTILLA_VERIFY_SOAK_SECONDS must be shorter than FLOTILLA_VERIFY_DEADLINE_SECONDS, which it is a part of.'];
}
