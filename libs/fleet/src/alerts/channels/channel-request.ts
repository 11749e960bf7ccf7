/** The requests of each kind of channel over HTTP, in the format of its vendor. */
import { createHmac } from 'node:crypto';
import type { AlertMessage } from '@flotilla/signals';
import { signatureOf } from '../../webhooks/sign-delivery.js';
import type { ChannelSettings, HttpChannelSettings } from './channel-settings.js';

/** What is sent, in all the forms that channels need. */
export interface OutgoingMessage {
  /** The same in each attempt. */
  readonly id: string;
  readonly type: 'alert.fired' | 'alert.resolved' | 'alert.test';
  /** When it is sent, ms since the Unix epoch. */
  readonly at: number;
  readonly text: AlertMessage;
  /** The alerts for programs. */
  readonly alerts: readonly Readonly<Record<string, unknown>>[];
}

interface ChannelRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const TELEGRAM = 'https://api.telegram.org';

/**
 * The longest text that each chat accepts. It would refuse a longer one at each attempt, and the
 * messages after it would wait for a day.
 */
const fits: Readonly<Record<'TELEGRAM' | 'DINGTALK' | 'FEISHU' | 'WECOM', (text: string) => boolean>> = {
  TELEGRAM: (text) => text.length <= 4_096,
  WECOM: (text) => Buffer.byteLength(text) <= 2_048,
  // The limit of both is 20 kB for the whole request.
  DINGTALK: (text) => Buffer.byteLength(JSON.stringify(text)) <= 19_000,
  FEISHU: (text) => Buffer.byteLength(JSON.stringify(text)) <= 19_000,
};

export function requestOf(settings: HttpChannelSettings, message: OutgoingMessage): ChannelRequest {
  switch (settings.kind) {
    case 'SLACK':
      return json(settings.url, { text: slackText(message.text) });
    case 'TELEGRAM': {
      const { token, chatId, url = TELEGRAM } = settings;
      const body = { chat_id: chatId, text: fittedText(message.text, fits.TELEGRAM), disable_web_page_preview: true };
      return json(`${url.replace(/\/$/, '')}/bot${token}/sendMessage`, body);
    }
    case 'DINGTALK':
      return json(signedUrl(settings, message.at), {
        msgtype: 'text',
        text: { content: fittedText(message.text, fits.DINGTALK) },
      });
    case 'FEISHU': {
      const body = { msg_type: 'text', content: { text: fittedText(message.text, fits.FEISHU) } };
      return json(settings.url, { ...feishuProof(settings.secret, message.at), ...body });
    }
    case 'WECOM':
      return json(settings.url, { msgtype: 'text', text: { content: fittedText(message.text, fits.WECOM) } });
    case 'WEBHOOK':
      return webhookRequest(settings, message);
  }
}

/** Why the answer does not mean "delivered"; chats report errors in an HTTP 200, too. */
export function problemOf(kind: ChannelSettings['kind'], status: number, body: string): string | undefined {
  const reported = kind === 'SLACK' || kind === 'WEBHOOK' ? undefined : reportedProblem(kind, body);
  if (reported !== undefined) return reported;
  if (status >= 300 && status < 400) return `The other end answered ${status}: redirects are not followed.`;
  if (status < 200 || status >= 300) return `The other end answered ${status}.`;
  // As of a wrong address, or of a network that asks people to sign in.
  return kind !== 'WEBHOOK' && /^\s*</.test(body)
    ? `The other end answered ${status} with a web page. Check the address of the channel.`
    : undefined;
}

/** Telegram also has a status that is not 200 then. */
function reportedProblem(kind: ChannelSettings['kind'], body: string): string | undefined {
  const answer = parsed(body);
  if (kind === 'TELEGRAM')
    return answer['ok'] === false ? `Telegram answered: ${textOf(answer['description'])}` : undefined;
  const code = answer[kind === 'FEISHU' ? 'code' : 'errcode'] ?? (kind === 'FEISHU' ? answer['StatusCode'] : undefined);
  if (code === undefined || code === 0) return undefined;
  const reason = textOf(answer['errmsg'] ?? answer['msg'] ?? answer['StatusMessage']);
  return `The other end answered code ${textOf(code)}: ${reason}`;
}

/**
 * DingTalk: HMAC-SHA256 of `<ms>\n<secret>` with the secret, in Base64, as a parameter of the
 * address.
 */
export function dingtalkSign(secret: string, at: number): string {
  return createHmac('sha256', secret).update(`${at}\n${secret}`).digest('base64');
}

/**
 * Feishu and Lark: HMAC-SHA256 of nothing with the key `<seconds>\n<secret>`, in Base64, in the
 * body.
 */
export function feishuSign(secret: string, seconds: number): string {
  return createHmac('sha256', `${seconds}\n${secret}`).update('').digest('base64');
}

function signedUrl(
  { url, secret }: { readonly url: string; readonly secret?: string | undefined },
  at: number,
): string {
  if (secret === undefined) return url;
  const signed = new URL(url);
  signed.searchParams.set('timestamp', String(at));
  signed.searchParams.set('sign', dingtalkSign(secret, at));
  return signed.href;
}

function feishuProof(secret: string | undefined, at: number) {
  if (secret === undefined) return {};
  const seconds = Math.floor(at / 1_000);
  return { timestamp: String(seconds), sign: feishuSign(secret, seconds) };
}

function webhookRequest(
  { url, secret }: { readonly url: string; readonly secret?: string | undefined },
  { id, type, at, text, alerts }: OutgoingMessage,
): ChannelRequest {
  const { title, lines, link } = text;
  const data = { title, text: lines.join('\n'), url: link?.url ?? null, alerts };
  const body = JSON.stringify({ id, type, deviceId: null, at: new Date(at).toISOString(), data });
  const signature = secret === undefined ? {} : { 'flotilla-signature': signatureOf({ secret, body, at }) };
  const headers = { 'content-type': 'application/json', 'flotilla-event-id': id, ...signature };
  return { url, headers, body };
}

export function plainText({ title, lines, link }: AlertMessage): string {
  return [title, ...lines, ...(link === undefined ? [] : [`${link.text}: ${link.url}`])].join('\n');
}

/** With as many lines as fit; the link leads to the others. */
function fittedText(message: AlertMessage, isShortEnough: (text: string) => boolean): string {
  const { lines } = message;
  const textWith = (count: number) => plainText({ ...message, lines: [...lines.slice(0, count), '…'] });
  let text = plainText(message);
  for (let count = lines.length - 1; count >= 0 && !isShortEnough(text); count -= 1) text = textWith(count);
  return text;
}

/** `&`, `<` and `>` would begin links and mentions. */
function slackText({ title, lines, link }: AlertMessage): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const shown = [`*${escaped(title)}*`, ...lines.map(escaped)];
  return [...shown, ...(link === undefined ? [] : [`<${link.url}|${escaped(link.text)}>`])].join('\n');
}

function json(url: string, body: object): ChannelRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'no reason';
}
