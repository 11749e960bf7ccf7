/** Sends one message to one channel: one attempt, limited in time and bytes. */
import { MASK } from '@flotilla/mcp';
import { request } from 'undici';
import { attemptError, UserAddressAgents } from '../../webhooks/guarded-agent.js';
import { problemOf, requestOf } from './channel-request.js';
import type { OutgoingMessage } from './channel-request.js';
import type { ChannelSettings, HttpChannelSettings } from './channel-settings.js';
import { EmailSender } from './email-sender.js';
import type { SmtpSettings } from './email-sender.js';

export interface SendResult {
  readonly delivered: boolean;
  /** Of HTTP or SMTP; undefined where no answer came. */
  readonly status: number | undefined;
  /** The beginning of the answer. */
  readonly response: string | undefined;
  readonly error: string | undefined;
}

interface ChannelSenderOptions {
  /** Origins that may be anywhere, as for webhooks. */
  readonly trustedOrigins: readonly string[];
  readonly smtp: SmtpSettings | undefined;
  /** For one attempt of any kind, ms. */
  readonly attemptMs?: number;
}

/** Chats answer within a second. */
const ATTEMPT_MS = 8_000;
/** A mail server answers six times in one attempt, and may delay its greeting or check the text. */
const MAIL_ATTEMPT_MS = 20_000;
/** Connections to one origin: each channel sends one message at a time. */
const CONNECTIONS = 20;
/** Bytes of an answer that are read, and characters of it that are shown. */
const ANSWER_BYTES_MAX = 64 * 1_024;
const RESPONSE_CHARACTERS_MAX = 1_000;

export class ChannelSender {
  readonly #agents: UserAddressAgents;
  readonly #email: EmailSender;
  /** Whether the hub has a mail server. */
  readonly sendsMail: boolean;
  readonly #httpMs: number;
  /** The longest attempt, ms. */
  readonly attemptMs: number;

  constructor(options: ChannelSenderOptions) {
    this.#httpMs = options.attemptMs ?? ATTEMPT_MS;
    this.attemptMs = options.attemptMs ?? MAIL_ATTEMPT_MS;
    const bounds = { connections: CONNECTIONS, timeoutMs: this.#httpMs };
    this.#agents = new UserAddressAgents(options.trustedOrigins, bounds);
    this.#email = new EmailSender(options.smtp, this.attemptMs);
    this.sendsMail = options.smtp !== undefined;
  }

  /** Rejects only when `stopped` aborts it. */
  async send(settings: ChannelSettings, message: OutgoingMessage, stopped: AbortSignal): Promise<SendResult> {
    stopped.throwIfAborted();
    const result =
      settings.kind === 'EMAIL'
        ? await this.#email.send(settings.to, message, stopped)
        : await this.#post(settings, message, stopped);
    return { ...result, error: result.error && withoutSecrets(result.error, settings) };
  }

  async close(): Promise<void> {
    this.#email.close();
    await this.#agents.close();
  }

  async #post(settings: HttpChannelSettings, message: OutgoingMessage, stopped: AbortSignal): Promise<SendResult> {
    const { url, headers, body } = requestOf(settings, message);
    const late = AbortSignal.timeout(this.#httpMs);
    const signal = AbortSignal.any([late, stopped]);
    try {
      const answer = await request(url, {
        dispatcher: this.#agents.agentFor(url),
        method: 'POST',
        headers: { ...headers, 'user-agent': 'Flotilla' },
        body,
        signal,
      });
      const text = await beginningOf(answer.body);
      const problem = problemOf(settings.kind, answer.statusCode, text);
      const response = withoutSecrets(text.slice(0, RESPONSE_CHARACTERS_MAX), settings);
      return { delivered: problem === undefined, status: answer.statusCode, response, error: problem };
    } catch (error) {
      stopped.throwIfAborted();
      const reason = late.aborted ? `No answer within ${this.#httpMs / 1_000} s.` : attemptError(error);
      return { delivered: false, status: undefined, response: undefined, error: reason };
    }
  }
}

async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** An error of a library or an answer may repeat the address. */
function withoutSecrets(text: string, settings: ChannelSettings): string {
  const secrets = Object.entries(settings).flatMap(([name, value]) =>
    ['url', 'secret', 'token'].includes(name) && typeof value === 'string' ? [value] : [],
  );
  return secrets.reduce((result, each) => result.replaceAll(each, MASK), text);
}
