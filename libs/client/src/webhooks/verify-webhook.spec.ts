import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from './verify-webhook.js';

const secret = 'whsec_0123456789';
const body = '{"id":"e1","type":"device.connected","deviceId":"ä","at":"2026-01-01T00:00:00Z","data":{}}';
const now = 1_700_000_000;
const mac = (time: number, text = body, key = secret) =>
  createHmac('sha256', key).update(`${time}.${text}`).digest('hex');

describe('a webhook', () => {
  it('of the hub is its event, from text and from bytes, with several signatures and parts to come', async () => {
    const header = `t=${now},v1=${mac(now)}`;
    expect(await verifyWebhook(secret, header, body, { now })).toMatchObject({ id: 'e1', deviceId: 'ä' });
    expect(await verifyWebhook(secret, header, new TextEncoder().encode(body), { now: now + 299 })).toMatchObject({
      id: 'e1',
    });
    expect(
      await verifyWebhook(secret, `t=${now}, v1=${'0'.repeat(64)}, v1=${mac(now)}, v2=x`, body, { now }),
    ).toMatchObject({ id: 'e1' });
  });

  it.each([
    ['another secret', `t=${now},v1=${mac(now, body, 'another')}`],
    ['another body', `t=${now},v1=${mac(now, `${body} `)}`],
    ['another time than what was signed', `t=${now + 1},v1=${mac(now)}`],
    ['a time long ago', `t=${now - 301},v1=${mac(now - 301)}`],
    ['a time to come', `t=${now + 301},v1=${mac(now + 301)}`],
    ['no time', `v1=${mac(now)}`],
    ['no signature', `t=${now}`],
    ['half a signature', `t=${now},v1=${mac(now).slice(0, 32)}`],
    ['nothing', ''],
    ['no header', null],
  ])('with %s is refused', async (_what, header) => {
    await expect(verifyWebhook(secret, header, body, { now })).rejects.toMatchObject({ code: 'WEBHOOK_INVALID' });
  });
});
