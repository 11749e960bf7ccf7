import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { retryAfterMs, unansweredError } from './retry.js';

const request = (method: string) => ({ jsonrpc: '2.0' as const, id: 1, method });
const refused = (status: number, text = '') =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status, statusText: '', text });

describe('a request that was not answered', () => {
  it('is sent again a few times if that is safe', () => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryAfterMs(request('tools/list'), 'broken', attempt, 1))).toEqual([
      500,
      1_000,
      2_000,
      4_000,
      undefined,
    ]);
    expect(retryAfterMs(request('tools/list'), refused(503), 1, 1)).toBe(500);
    expect(retryAfterMs(request('subscriptions/listen'), 'broken', 99, 1)).toBe(30_000);
  });

  it('is not sent again if it may have had an effect, or was rejected', () => {
    expect(retryAfterMs(request('tools/call'), 'broken', 1)).toBeUndefined();
    for (const status of [400, 401, 403, 404])
      expect(retryAfterMs(request('tools/list'), refused(status), 1)).toBeUndefined();
  });

  it('gets an error that says what happened', () => {
    expect(unansweredError(request('tools/call'), 'broken').error.message).toMatch(/connection broke.*Outcome unknown/);
    const { message } = unansweredError(request('tools/call'), refused(403)).error;
    expect(message).toMatch(/^The hub rejected the request: .*Check the API key/);
    expect(message).not.toMatch(/unknown/);
    expect(unansweredError(request('tools/call'), refused(404)).error.message).toMatch(/rejected the request: no\.$/);
  });

  it('gets an error without doubt about a call that the hub refused before it ran', () => {
    const refusal = JSON.stringify({ code: 'UNAVAILABLE', message: 'The hub cannot check keys now.' });
    for (const end of [refused(429), refused(503, refusal)])
      expect(unansweredError(request('tools/call'), end).error.message).toBe(
        'The hub refused the request for now: no. Nothing was sent to a device; try again later.',
      );
    for (const end of [refused(503, 'upstream error'), refused(502, refusal), refused(500)])
      expect(unansweredError(request('tools/call'), end).error.message).toMatch(/did not answer.*Outcome unknown/);
  });
});
