/** A voice server for specs: answers hellos, keeps what it hears, and says what it is told to. */
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

export interface HeardConversation {
  readonly socket: WebSocket;
  readonly headers: IncomingHttpHeaders;
  readonly texts: string[];
  readonly frames: Buffer[];
}

export class TestVoiceServer {
  readonly conversations: HeardConversation[] = [];
  /** What hellos are answered with; undefined: with silence. */
  hello: string | undefined =
    '{"type":"hello","transport":"websocket","session_id":"b-1","audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}';

  private constructor(private readonly server: WebSocketServer) {
    server.on('connection', (socket, request) => {
      const conversation: HeardConversation = { socket, headers: request.headers, texts: [], frames: [] };
      this.conversations.push(conversation);
      socket.on('error', () => undefined);
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) conversation.frames.push(data);
        else conversation.texts.push(data.toString());
        if (!isBinary && conversation.texts.length === 1 && this.hello !== undefined) socket.send(this.hello);
      });
    });
  }

  static async open(): Promise<TestVoiceServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new TestVoiceServer(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/voice`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The nth conversation, once its hello was heard. */
  async conversation(number = 1): Promise<HeardConversation> {
    return vi.waitFor(() => {
      const found = this.conversations[number - 1];
      if (found === undefined || found.texts.length === 0) throw new Error('no conversation yet');
      return found;
    });
  }

  async close(): Promise<void> {
    for (const { socket } of this.conversations) socket.terminate();
    this.server.close();
    await once(this.server, 'close');
  }
}
