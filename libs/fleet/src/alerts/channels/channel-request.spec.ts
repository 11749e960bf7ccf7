/** The requests of each kind of channel, and which answers mean "delivered". */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dingtalkSign, feishuSign, problemOf, requestOf } from './channel-request.js';
import type { OutgoingMessage } from './channel-request.js';
import { readSettings, shownConfig, withFormerSecrets } from './channel-settings.js';
import type { HttpChannelSettings } from './channel-settings.js';

const message: OutgoingMessage = {
  id: '0193a5c2-7f10-7b60-9c2e-3f5a1d2e4b6c',
  type: 'alert.fired',
  at: 1_764_000_000_123,
  text: {
    title: '[Warning] Shops <1>',
    lines: ['412 of 5,000 devices went offline.', 'First check the power.'],
    link: { text: 'Open in the console', url: 'https://hub.example/alerts/1' },
  },
  alerts: [{ id: '1' }],
};
const plain = [
  '[Warning] Shops <1>',
  '412 of 5,000 devices went offline.',
  'First check the power.',
  'Open in the console: https://hub.example/alerts/1',
].join('\n');
const sent = (settings: HttpChannelSettings) => {
  const { body, url, headers } = requestOf(settings, message);
  return { url: new URL(url), headers, body: JSON.parse(body) as Readonly<Record<string, unknown>>, text: body };
};

describe('the requests of channels', () => {
  // The examples in the documentation of the vendors, computed with their code in Python.
  it('are signed as DingTalk and Feishu document it', () => {
    expect(dingtalkSign('this is secret', 1_577_262_236_757)).toBe('hmPWwU+7lVdm3ZZz0r9tSfx0L4Q26jWOZr9+Gs6EZQM=');
    expect(feishuSign('demo', 1_599_360_473)).toBe('l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=');
  });

  it('carry the signature of DingTalk in the address, and that of Feishu in the body', () => {
    const url = 'https://oapi.dingtalk.com/robot/send?access_token=token';
    const signed = sent({ kind: 'DINGTALK', url, secret: 'this is secret' });
    expect(Object.fromEntries(signed.url.searchParams)).toEqual({
      access_token: 'token',
      timestamp: '1764000000123',
      sign: dingtalkSign('this is secret', 1_764_000_000_123),
    });
    expect(signed.body).toEqual({ msgtype: 'text', text: { content: plain } });
    expect(sent({ kind: 'DINGTALK', url }).url.href).toBe(url);
    const hook = 'https://open.feishu.cn/open-apis/bot/v2/hook/token';
    expect(sent({ kind: 'FEISHU', url: hook, secret: 'demo' }).body).toEqual({
      timestamp: '1764000000',
      sign: feishuSign('demo', 1_764_000_000),
      msg_type: 'text',
      content: { text: plain },
    });
  });

  it('name fewer alerts where a chat refuses a longer text', () => {
    const lines = Array.from(
      { length: 50 },
      (_, index) => `[警告] 设备离线 ${index}: ${'一号店的音箱'.repeat(10)} 离线。`,
    );
    const long = { ...message, text: { ...message.text, lines } };
    const textOf = (settings: HttpChannelSettings) => requestOf(settings, long).body;
    const url = 'https://chat.example/hook';
    const { text: toTelegram } = JSON.parse(textOf({ kind: 'TELEGRAM', token: '1:a', chatId: '1' })) as {
      text: string;
    };
    expect(toTelegram.length).toBeLessThanOrEqual(4_096);
    const { text: toWecom } = JSON.parse(textOf({ kind: 'WECOM', url })) as { text: { content: string } };
    expect(Buffer.byteLength(toWecom.content)).toBeLessThanOrEqual(2_048);
    for (const kind of ['DINGTALK', 'FEISHU'] as const)
      expect(Buffer.byteLength(textOf({ kind, url }))).toBeLessThanOrEqual(20_000);
    const shown = toWecom.content.split('\n');
    expect(shown.slice(0, 2)).toEqual(['[Warning] Shops <1>', lines[0]]);
    expect(shown.slice(-2)).toEqual(['…', 'Open in the console: https://hub.example/alerts/1']);
    expect(toTelegram.split('\n').length).toBeGreaterThan(shown.length);
  });

  it('are text messages for WeCom, Slack and Telegram', () => {
    expect(sent({ kind: 'WECOM', url: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=k' }).body).toEqual({
      msgtype: 'text',
      text: { content: plain },
    });
    expect(sent({ kind: 'SLACK', url: 'https://hooks.slack.com/services/a' }).body['text']).toContain(
      '*[Warning] Shops &lt;1&gt;*\n412 of',
    );
    const telegram = sent({ kind: 'TELEGRAM', token: '1:a', chatId: '-100' });
    expect(telegram.url.href).toBe('https://api.telegram.org/bot1:a/sendMessage');
    expect(telegram.body).toMatchObject({ chat_id: '-100', text: plain });
  });

  it('are signed events for webhooks, and unsigned without a secret', () => {
    const url = 'https://example.com/hook';
    const { headers, body, text } = sent({ kind: 'WEBHOOK', url, secret: 's' });
    const v1 = createHmac('sha256', 's').update(`1764000000.${text}`).digest('hex');
    expect(headers['flotilla-signature']).toBe(`t=1764000000,v1=${v1}`);
    expect(headers['flotilla-event-id']).toBe(message.id);
    expect(body).toMatchObject({ id: message.id, type: 'alert.fired', data: { alerts: [{ id: '1' }] } });
    expect(sent({ kind: 'WEBHOOK', url }).headers).not.toHaveProperty('flotilla-signature');
  });
});

describe('an answer', () => {
  it.each([
    ['SLACK', 200, 'ok', undefined],
    ['WEBHOOK', 204, '', undefined],
    ['WEBHOOK', 302, '', 'The other end answered 302: redirects are not followed.'],
    ['WEBHOOK', 500, '', 'The other end answered 500.'],
    ['DINGTALK', 200, '{"errcode":0,"errmsg":"ok"}', undefined],
    [
      'DINGTALK',
      200,
      '{"errcode":310000,"errmsg":"sign not match"}',
      'The other end answered code 310000: sign not match',
    ],
    [
      'WECOM',
      200,
      '{"errcode":93000,"errmsg":"invalid webhook url"}',
      'The other end answered code 93000: invalid webhook url',
    ],
    ['FEISHU', 200, '{"code":0,"msg":"success"}', undefined],
    ['FEISHU', 200, '{"StatusCode":0,"StatusMessage":"success"}', undefined],
    ['FEISHU', 200, '{"code":19021,"msg":"sign match fail"}', 'The other end answered code 19021: sign match fail'],
    ['TELEGRAM', 200, '{"ok":true}', undefined],
    ['TELEGRAM', 200, '{"ok":false,"description":"chat not found"}', 'Telegram answered: chat not found'],
    ['TELEGRAM', 403, '{"ok":false,"description":"bot was blocked"}', 'Telegram answered: bot was blocked'],
    ['FEISHU', 400, '{"code":9499,"msg":"Bad Request"}', 'The other end answered code 9499: Bad Request'],
    ['TELEGRAM', 502, '<html>Bad Gateway</html>', 'The other end answered 502.'],
    ['WECOM', 200, '<!doctype html>', 'The other end answered 200 with a web page. Check the address of the channel.'],
    ['WEBHOOK', 200, '<html>thanks</html>', undefined],
  ] as const)('of %s with %d %s is read', (kind, status, body, problem) => {
    expect(problemOf(kind, status, body)).toBe(problem);
  });
});

describe('the settings of a channel', () => {
  const read = (kind: HttpChannelSettings['kind'] | 'EMAIL', config: unknown) => readSettings(kind, config, ['config']);

  it.each([
    ['EMAIL', { to: [] }, ['config', 'to']],
    ['EMAIL', { to: [''] }, ['config', 'to', '0']],
    ['EMAIL', { to: ['a@example.com\nBcc: b@example.com'] }, ['config', 'to', '0']],
    ['TELEGRAM', { chatId: '1' }, ['config', 'token']],
    ['TELEGRAM', { token: '../x', chatId: '1' }, ['config', 'token']],
    ['SLACK', {}, ['config', 'url']],
    ['SLACK', { url: 'https://example.com', other: 1 }, ['config']],
    ['WEBHOOK', { url: 'https://example.com', secret: '***' }, ['config', 'secret']],
    ['WEBHOOK', 'text', ['config']],
  ] as const)('of %s refuse %j', (kind, config, path) => {
    expect(read(kind, config)).toMatchObject({ refusal: { path } });
  });

  it.each([
    [{}, 'An e-mail channel has at least one recipient.'],
    [{ to: [] }, 'An e-mail channel has at least one recipient.'],
    [{ to: 'ops@example.com' }, 'The recipients are a list of e-mail addresses.'],
  ])('say what is wrong with the recipients of %j', (config, message) => {
    expect(read('EMAIL', config)).toMatchObject({ refusal: { message } });
  });

  it('are shown without secrets, and kept where they come back as shown', () => {
    const former = { url: 'https://example.com/token', secret: 's' };
    const result = read('WEBHOOK', former);
    if ('refusal' in result) throw new TypeError(result.refusal.message);
    const shown = shownConfig(result.settings);
    expect(shown).toEqual({ url: 'https://example.com/***', secret: '***' });
    expect(withFormerSecrets(shown, shown, former)).toEqual(former);
    expect(withFormerSecrets({ ...shown, secret: 'new' }, shown, former)).toEqual({ ...former, secret: 'new' });
    // A secret must not be sent to another address.
    const moved = withFormerSecrets({ ...shown, url: 'https://other.example' }, shown, former);
    expect(read('WEBHOOK', moved)).toMatchObject({ refusal: { path: ['config', 'secret'] } });
  });
});
