/**
 * What receives messages about alerts: an HTTP server for chats and webhooks, and a mail server.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMessage {
  /** The path without its slash, which names the channel; `mail` for e-mail. */
  readonly channel: string;
  /** The id by which a repetition is recognised; undefined for chats. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  readonly text: string;
  readonly at: number;
}

export class MessageReceivers {
  readonly received: ReceivedMessage[] = [];
  /** What each channel answers with status 200; 204 without one. */
  readonly answers = new Map<string, string>();
  readonly #http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const channel = url.pathname.split('/')[1] ?? '';
      const id = request.headers['flotilla-event-id'];
      const text = Buffer.concat(chunks).toString();
      this.#take({ channel, id: typeof id === 'string' ? id : undefined, query: url.searchParams, text });
      const answer = this.answers.get(channel);
      response.writeHead(answer === undefined ? 204 : 200).end(answer);
    });
  });
  readonly #mail = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const id = /^x-flotilla-message-id: (\S+)/im.exec(text)?.[1];
        this.#take({ channel: 'mail', id, query: new URLSearchParams(), text });
        done();
      });
    },
  });

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => this.#mail.listen(0, '127.0.0.1', resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get smtpUrl(): string {
    return `smtp://127.0.0.1:${(this.#mail.server.address() as AddressInfo).port}`;
  }

  of(channel: string): readonly ReceivedMessage[] {
    return this.received.filter((message) => message.channel === channel);
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
    await new Promise<void>((resolve) => this.#mail.close(() => resolve()));
  }

  #take(message: Omit<ReceivedMessage, 'at'>): void {
    this.received.push({ ...message, at: Date.now() });
  }
}
