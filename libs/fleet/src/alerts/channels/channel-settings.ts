/** The settings of each kind of channel: what is refused, and what of them is shown. */
import { MASK } from '@flotilla/mcp';
import type { ChannelConfig, ChannelKind } from '@flotilla/registry';
import { z } from 'zod';
import { refuse, refuseIssue, sayIssue } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';

const RECIPIENTS_MAX = 50;
/** The longest address that SMTP carries. [RFC 5321 §4.5.3.1] */
const RECIPIENT_CHARACTERS_MAX = 254;
const URL_CHARACTERS_MAX = 2_048;
const SECRET_CHARACTERS_MAX = 500;
/** One line without spaces, and one @ with something on both sides. */
const RECIPIENT = /^[^\s@,;<>\p{Cc}]+@[^\s@,;<>\p{Cc}]+$/u;
/** Signs that may be in a path of the Bot API. */
const TELEGRAM_TOKEN = /^[A-Za-z0-9:_-]+$/;

const url = z.string().min(1).max(URL_CHARACTERS_MAX);
const secret = z
  .string()
  .min(1, 'A secret is not empty; leave it out for messages without a signature.')
  .max(SECRET_CHARACTERS_MAX)
  .optional();
const room = z.strictObject({ url, secret });
const recipient = z
  .string()
  .max(RECIPIENT_CHARACTERS_MAX)
  .regex(RECIPIENT, 'A recipient is one e-mail address on one line, such as ops@example.com.');
const token = z
  .string('A Telegram channel needs the token of its bot, as @BotFather shows it.')
  .max(SECRET_CHARACTERS_MAX)
  .regex(TELEGRAM_TOKEN, 'The token is that of a bot, as @BotFather shows it: letters, digits, ":", "_" and "-".');
const chatId = z.union([z.string().min(1).max(100), z.number().int()]).transform(String);

const NO_RECIPIENT = 'An e-mail channel has at least one recipient.';
const to = z
  .array(recipient, {
    error: ({ input }) => (input === undefined ? NO_RECIPIENT : 'The recipients are a list of e-mail addresses.'),
  })
  .min(1, NO_RECIPIENT)
  .max(RECIPIENTS_MAX);

const schemas = {
  EMAIL: z.strictObject({ to }),
  SLACK: room,
  TELEGRAM: z.strictObject({ token, chatId, url: url.optional() }),
  DINGTALK: room,
  FEISHU: room,
  WECOM: room,
  WEBHOOK: room,
};

export type ChannelSettings = {
  readonly [Kind in ChannelKind]: { readonly kind: Kind } & z.infer<(typeof schemas)[Kind]>;
}[ChannelKind];
export type HttpChannelSettings = Exclude<ChannelSettings, { readonly kind: 'EMAIL' }>;

export type ReadSettings = { readonly settings: ChannelSettings } | { readonly refusal: Refusal };

export function readSettings(kind: ChannelKind, config: unknown, path: readonly string[]): ReadSettings {
  const parsed = schemas[kind].safeParse(config, { error: sayIssue });
  if (!parsed.success) return { refusal: refuseIssue(parsed.error.issues[0], path) };
  const masked = Object.entries(parsed.data).find(([, value]) => value === MASK || String(value).endsWith(`/${MASK}`));
  if (masked !== undefined)
    return { refusal: refuse('INVALID', [...path, masked[0]], `Write "${masked[0]}" out: "${MASK}" replaces it.`) };
  return { settings: { kind, ...parsed.data } as ChannelSettings };
}

/** These chats sign nothing. Stored channels may have a secret from before it was refused. */
function signsNothing(kind: ChannelKind): boolean {
  return kind === 'SLACK' || kind === 'WECOM';
}

export function refuseUnusedSecret(settings: ChannelSettings, path: readonly string[]): Refusal | undefined {
  const { kind } = settings;
  if (!signsNothing(kind) || !('secret' in settings) || settings.secret === undefined) return undefined;
  const message = `Messages to a ${kind} channel have no signature: leave "secret" out.`;
  return refuse('INVALID', [...path, 'secret'], message);
}

/** A channel that cannot deliver would be noticed when its first alert does not arrive. */
export function refuseWithoutMail(
  { kind, enabled }: { readonly kind: ChannelKind; readonly enabled: boolean },
  sendsMail: boolean,
): Refusal | undefined {
  if (kind !== 'EMAIL' || !enabled || sendsMail) return undefined;
  const message =
    'This hub process has no mail server, so the channel would deliver nothing. Set FLOTILLA_SMTP_URL and ' +
    'FLOTILLA_SMTP_FROM for all processes and restart them, or save the channel disabled.';
  return refuse('INVALID', ['input', 'kind'], message);
}

/** Tokens are also in addresses of chats, so only their origins are shown. */
export function shownConfig(settings: ChannelSettings): ChannelConfig {
  return Object.fromEntries(
    Object.entries(plainConfig(settings)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, shownValue(name, value)]],
    ),
  );
}

/** The settings as they were given. */
export function plainConfig(settings: ChannelSettings): ChannelConfig {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'kind'));
}

/** The config without a stored secret that has no effect: forms return it as it is shown. */
export function withoutUnusedSecret(kind: ChannelKind, given: unknown): unknown {
  if (!signsNothing(kind) || typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => name !== 'secret' || value !== MASK));
}

/**
 * The config with the former values of what was given as it is shown. Secrets are kept only for the
 * same address: they must not be sent to another one.
 */
export function withFormerSecrets(given: unknown, shown: ChannelConfig, former: ChannelConfig | undefined): unknown {
  if (typeof given !== 'object' || given === null || former === undefined) return given;
  const config = given as ChannelConfig;
  const keepsUrl = config['url'] === shown['url'] || config['url'] === former['url'];
  if (!keepsUrl) return given;
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, value === shown[name] ? former[name] : value]),
  );
}

function shownValue(name: string, value: unknown): unknown {
  if (name === 'secret' || name === 'token') return MASK;
  if (name !== 'url' || typeof value !== 'string' || !URL.canParse(value)) return value;
  return `${new URL(value).origin}/${MASK}`;
}
