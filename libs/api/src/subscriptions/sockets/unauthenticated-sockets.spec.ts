/**
 * Sockets that send nothing, or nothing valid, and ignore the answers of the hub: real sockets
 * against the mounted API.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminKey, openApi, type OpenApi } from '../../mount/mounted-api.suite.js';

let api: OpenApi;
const sockets: Socket[] = [];

beforeAll(async () => {
  api = await openApi(
    {},
    { socketsMax: 1, unauthenticatedSocketsPerAddressMax: 5, unauthenticatedMsMax: 2_000, socketClosingMsMax: 100 },
  );
});
afterAll(() => api.close());
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface UnauthenticatedSocket {
  readonly socket: Socket;
  /** The first line of the answer to the upgrade. */
  readonly status: string;
  isEnded: boolean;
}

/** Upgrades, and answers no frame and no end of the other side. */
function upgrade(): Promise<UnauthenticatedSocket> {
  const { hostname, port } = new URL(api.httpUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    sockets.push(socket);
    const headers = ['Host: hub.test', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    headers.push('Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Protocol: graphql-transport-ws');
    socket.write(`GET /graphql HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    socket.once('error', reject);
    socket.once('data', (data: Buffer) => {
      const client: UnauthenticatedSocket = {
        socket,
        status: data.toString('latin1').split('\r\n')[0] ?? '',
        isEnded: false,
      };
      socket.removeAllListeners('error').on('error', () => undefined);
      socket.on('end', () => (client.isEnded = true)).resume();
      resolve(client);
    });
  });
}

/** A masked text frame, or as much of a longer one as `text` is. */
function frame(text: string, length = text.length): Buffer {
  const head =
    length < 126
      ? Buffer.from([0x81, 0x80 | length])
      : Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, length >> 16, length >> 8, length]);
  return Buffer.concat([head, Buffer.alloc(4), Buffer.from(text)]);
}

const allEnded = (sockets: readonly UnauthenticatedSocket[]) =>
  vi.waitFor(() => expect(sockets.map(({ isEnded }) => isEnded)).not.toContain(false), 5_000);

describe('a client at the door of subscriptions', () => {
  it('that says nothing is gone after its time, without its help', async () => {
    const sockets = await Promise.all([1, 2, 3].map(() => upgrade()));
    expect(sockets.map(({ status }) => status)).toEqual(Array(3).fill('HTTP/1.1 101 Switching Protocols'));
    await allEnded(sockets);
  });

  it('that sends a wrong key, or an operation, is gone soon after the close frame', async () => {
    const [wrong, early] = [await upgrade(), await upgrade()];
    const startedAt = performance.now();
    wrong.socket.write(frame('{"type":"connection_init","payload":{"authorization":"Bearer wrong"}}'));
    early.socket.write(frame('{"type":"subscribe","id":"1","payload":{"query":"{viewer{id}}"}}'));
    await allEnded([wrong, early]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('may send less than those with a key', async () => {
    const client = await upgrade();
    const startedAt = performance.now();
    client.socket.write(frame('x'.repeat(17_000), 1_000_000));
    await allEnded([client]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('beyond the share of its address costs that address its oldest, and one with a key is admitted', async () => {
    const sockets: UnauthenticatedSocket[] = [];
    for (let count = 0; count < 6; count += 1) sockets.push(await upgrade());
    await vi.waitFor(() => expect(sockets[0]?.isEnded).toBe(true), 1_500);
    expect(sockets.slice(1).map(({ isEnded }) => isEnded)).not.toContain(true);
    const client = api.client(adminKey);
    expect((await client.iterate({ query: '{ viewer { name } }' }).next()).value).toHaveProperty('data.viewer');
    await client.dispose();
  });

  it('hears at once where no place is left for those with a key, and its socket is not kept', async () => {
    const { client } = await vi.waitFor(async () => ({ client: await connected() }));
    const refused = await upgrade();
    expect(refused.status).toBe('HTTP/1.1 503 Service Unavailable');
    await vi.waitFor(() => {
      // A socket that the hub closed only half would take this for ever.
      refused.socket.write('x');
      expect(refused.socket.destroyed).toBe(true);
    });
    await client.dispose();
  });

  /** A client whose connection was acknowledged; rejects where there was no place for it yet. */
  async function connected() {
    const client = api.client(adminKey);
    const values = client.iterate({ query: 'subscription { deviceChanged { id } }' });
    const ended = values.next();
    await Promise.race([ended, new Promise((resolve) => client.on('connected', resolve))]);
    return client;
  }
});
