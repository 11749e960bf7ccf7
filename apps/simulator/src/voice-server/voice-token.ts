/**
 * The token check of xiaozhi-esp32-server: a signature over Client-Id, Device-Id and time, which is
 * valid for 30 days. [xiaozhi §8]
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Seconds: 30 days, and for a clock that is ahead a minute. */
const AGE_MAX = 30 * 86_400;
const AHEAD_MAX = 60;

export function isSignedBy(key: string, headers: IncomingHttpHeaders, nowMs: number): boolean {
  const [signature = '', seconds = ''] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.');
  if (!/^\d{1,12}$/.test(seconds)) return false;
  const age = nowMs / 1_000 - Number(seconds);
  if (age > AGE_MAX || age < -AHEAD_MAX) return false;
  const signed = `${String(headers['client-id'])}|${String(headers['device-id'])}|${seconds}`;
  const expected = createHmac('sha256', key).update(signed).digest('base64url');
  const [given, right] = [Buffer.from(signature), Buffer.from(expected)];
  return given.length === right.length && timingSafeEqual(given, right);
}
