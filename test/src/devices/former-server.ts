/**
 * A stand-in of xiaozhi-esp32-server: its OTA endpoint answers as that server does for boards that
 * are bound, and for others. It has no voice.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface FormerRequestSeen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** What it answered, with its secrets. */
  readonly answer: string;
}

/** `broken`: HTTP 200 with an error, as for a version that it cannot read. */
export type FormerMood = 'usual' | 'down' | 'broken' | 'silent';

export class FormerServerStandIn {
  readonly seen: FormerRequestSeen[] = [];
  mood: FormerMood = 'usual';
  /** MAC addresses in lower case; all boards if it is undefined. */
  bound: ReadonlySet<string> | undefined;
  readonly #secret = 'former-secret-0b7e';
  readonly #server: Server = createServer((request, response) => void this.#handle(request, response));

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get otaUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/xiaozhi/ota/`;
  }

  /** Requests of one board. */
  of(mac: string): readonly FormerRequestSeen[] {
    return this.seen.filter(({ rawHeaders }) => macOf(rawHeaders).toLowerCase() === mac);
  }

  /** The tokens and codes of all answers. */
  get secrets(): readonly string[] {
    return this.seen.flatMap(({ answer }) =>
      [...answer.matchAll(/"(?:token|code)":"([^"]+)"/g)].map(([, text = '']) => text),
    );
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { method, rawHeaders, url } = request;
    const [status, answer] = this.#answerTo(url ?? '', rawHeaders);
    this.seen.push({ method, url, rawHeaders, body, answer });
    if (this.mood === 'silent') return;
    response.writeHead(status, { 'Content-Type': 'application/json;charset=UTF-8' }).end(answer);
  }

  #answerTo(url: string, rawHeaders: readonly string[]): readonly [status: number, answer: string] {
    if (this.mood === 'down') return [503, '{"msg":"starting"}'];
    if (this.mood === 'broken') return [200, '{"code":500,"msg":"server error"}'];
    const mac = macOf(rawHeaders);
    const isBound = this.bound?.has(mac.toLowerCase()) ?? true;
    if (url.endsWith('/activate')) return isBound ? [200, 'success'] : [202, ''];
    const at = Math.floor(Date.now() / 1_000);
    const client = valueOf(rawHeaders, 'client-id');
    const signature = createHmac('sha256', this.#secret).update(`${client}|${mac}|${at}`).digest('base64url');
    const code = String(100_000 + (Number.parseInt(mac.replace(/[^0-9a-f]/gi, '').slice(-4), 16) % 900_000));
    const answer = {
      server_time: { timestamp: Date.now(), timeZone: 'Asia/Shanghai', timezone_offset: 480 },
      ...(!isBound && { activation: { code, message: `http://former.example\n${code}`, challenge: mac } }),
      firmware: { version: '2.4.2', url: 'http://former.example/NOT_ACTIVATED_FIRMWARE_THIS_IS_A_INVALID_URL' },
      websocket: { url: 'ws://former.example:8000/xiaozhi/v1/', token: `${signature}.${at}` },
    };
    return [200, `${JSON.stringify(answer)}\n`];
  }
}

function macOf(rawHeaders: readonly string[]): string {
  return valueOf(rawHeaders, 'device-id');
}

function valueOf(rawHeaders: readonly string[], name: string): string {
  const index = rawHeaders.findIndex((header, at) => at % 2 === 0 && header.toLowerCase() === name);
  return rawHeaders[index + 1] ?? '';
}
