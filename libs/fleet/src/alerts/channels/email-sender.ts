/** Sends messages as e-mail over the SMTP server of the operator. */
import nodemailer from 'nodemailer';
import { plainText } from './channel-request.js';
import type { OutgoingMessage } from './channel-request.js';
import type { SendResult } from './channel-sender.js';

export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with user and password where the server needs them. */
  readonly url: string;
  readonly from: string;
}

type Transport = ReturnType<typeof nodemailer.createTransport>;

export class EmailSender {
  readonly #smtp: SmtpSettings | undefined;
  readonly #transport: Transport | undefined;
  readonly #attemptMs: number;

  constructor(smtp: SmtpSettings | undefined, attemptMs: number) {
    this.#smtp = smtp;
    this.#attemptMs = attemptMs;
    if (smtp === undefined) return;
    const limits = { connectionTimeout: attemptMs, greetingTimeout: attemptMs, socketTimeout: attemptMs };
    this.#transport = nodemailer.createTransport({ url: smtp.url, ...limits });
  }

  /** Rejects only when `stopped` aborts it. */
  async send(to: readonly string[], message: OutgoingMessage, stopped: AbortSignal): Promise<SendResult> {
    if (this.#smtp === undefined || this.#transport === undefined)
      return failed('No SMTP server is set. Set FLOTILLA_SMTP_URL and FLOTILLA_SMTP_FROM, and restart the hub.');
    // The limits of the transport are for single steps; this one closes the connection.
    const late = AbortSignal.timeout(this.#attemptMs);
    try {
      const { rejected, response } = await this.#transport.sendMail({
        signal: AbortSignal.any([late, stopped]),
        from: this.#smtp.from,
        to: [...to],
        subject: message.text.title,
        text: plainText(message.text),
        // The same in each attempt, so that servers and clients recognise a repetition.
        messageId: `<${message.id}@flotilla>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Flotilla-Message-Id': message.id },
      });
      const shown = withRefused(response, rejected);
      return { delivered: true, status: statusOf(response), response: shown, error: undefined };
    } catch (error) {
      stopped.throwIfAborted();
      return failed(late.aborted ? `Not sent within ${this.#attemptMs / 1_000} s.` : reasonOf(error, this.#smtp));
    }
  }

  /** Connects and signs in, and sends nothing. Resolves to the problem; undefined if it works. */
  async problem(): Promise<string | undefined> {
    if (this.#smtp === undefined || this.#transport === undefined) return undefined;
    try {
      await this.#transport.verify();
      return undefined;
    } catch (error) {
      return reasonOf(error, this.#smtp);
    }
  }

  close(): void {
    this.#transport?.close();
  }
}

function failed(error: string): SendResult {
  return { delivered: false, status: undefined, response: undefined, error };
}

/** The others received the message, so it is not sent again. */
function withRefused(response: string, rejected: readonly (string | { readonly address: string })[]): string {
  const refused = rejected.map((each) => (typeof each === 'string' ? each : each.address));
  return refused.length === 0 ? response : `${response}. Refused: ${refused.join(', ')}`;
}

function statusOf(response: string): number | undefined {
  const code = Number(response.slice(0, 3));
  return Number.isInteger(code) && code > 0 ? code : undefined;
}

/** Without the password, which some servers repeat. */
function reasonOf(error: unknown, { url }: SmtpSettings): string {
  const text = error instanceof Error ? error.message : 'The attempt failed.';
  const password = passwordIn(url);
  return (password === undefined ? text : text.replaceAll(password, '***')).slice(0, 300);
}

/** As nodemailer reads it: a text that is not percent-encoded counts as it is. */
function passwordIn(url: string): string | undefined {
  const { password } = new URL(url);
  if (password === '') return undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
