/**
 * A voice server for specs: answers hellos, records what it receives, and sends what the spec
 * requests.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

export interface HeardConversation {
  readonly socket: WebSocket;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly string[];
  readonly texts: string[];
  readonly frames: Buffer[];
}

/** Answers every handshake with a status instead of an upgrade. */
export interface Refusing {
  readonly status: number;
  readonly location?: string;
}

export class TestVoiceServer {
  readonly conversations: HeardConversation[] = [];
  /** TCP connections so far. */
  connections = 0;
  /** A message before any hello. */
  greeting: string | undefined;
  /** The answer to hellos; undefined: none. */
  hello: string | undefined =
    '{"type":"hello","transport":"websocket","session_id":"b-1",' +
    '"audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}';
  /** The answer to a second hello in the same conversation. */
  later: string | undefined;

  private constructor(
    private readonly server: Server,
    sockets: WebSocketServer,
  ) {
    server.on('connection', () => (this.connections += 1));
    sockets.on('connection', (socket, request) => {
      const { headers, rawHeaders } = request;
      const conversation: HeardConversation = { socket, headers, rawHeaders, texts: [], frames: [] };
      this.conversations.push(conversation);
      socket.on('error', () => undefined);
      if (this.greeting !== undefined) socket.send(this.greeting);
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) conversation.frames.push(data);
        else conversation.texts.push(data.toString());
        const isHello = !isBinary && data.toString().includes('"type":"hello"');
        const answer = conversation.texts.length === 1 ? this.hello : this.later;
        if (isHello && answer !== undefined) socket.send(answer);
      });
    });
  }

  static async open(refusing?: Refusing): Promise<TestVoiceServer> {
    const server = createServer();
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, socket, head) => {
      if (refusing === undefined)
        return sockets.handleUpgrade(request, socket, head, (ws) => sockets.emit('connection', ws, request));
      const location = refusing.location === undefined ? '' : `Location: ${refusing.location}\r\n`;
      socket.end(`HTTP/1.1 ${refusing.status} No\r\n${location}Content-Length: 0\r\n\r\n`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestVoiceServer(server, sockets);
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/voice`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Returns the nth conversation after its hello has arrived. */
  async conversation(number = 1): Promise<HeardConversation> {
    return vi.waitFor(() => {
      const found = this.conversations[number - 1];
      if (found === undefined || found.texts.length === 0) throw new Error('no conversation yet');
      return found;
    });
  }

  /** As after the loss of its network: nothing is read, and no connection ends. */
  freeze(): void {
    for (const { socket } of this.conversations) socket.pause();
  }

  async close(): Promise<void> {
    for (const { socket } of this.conversations) socket.terminate();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}
