/** An upgrade over real HTTP and WebSocket, with an honest and a dishonest image server. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeAppImage } from '@flotilla/firmware/app-image-maker';
import type { DeviceNotice, LastingBehaviour } from '@flotilla/simulated-device';
import { WebSocketServer, type WebSocket } from 'ws';
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from './fleet.js';
import { readOptions } from './command/options.js';

const image = makeAppImage({ version: '2.5.0', dataBytes: 1_000_000, hash: createHash('sha256') });
const damaged = Uint8Array.from(image, (byte, index) => (index === 500_000 ? byte ^ 1 : byte));
const files: Readonly<Record<string, Uint8Array>> = {
  '/good.bin': image,
  '/damaged.bin': damaged,
  '/other-chip.bin': makeAppImage({ version: '2.5.0', chip: 'esp32c3', hash: createHash('sha256') }),
};

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Hub {
  readonly http: Server;
  readonly port: number;
  readonly conversations: WebSocketServer;
  readonly posted: { readonly application: { readonly version: string; readonly elf_sha256: string } }[];
}

/** Answers OTA requests with its WebSocket address, serves files, and accepts conversations. */
async function startHub(): Promise<Hub> {
  const posted: Hub['posted'] = [];
  const http = createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (request.method === 'POST') {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        posted.push(JSON.parse(Buffer.concat(chunks).toString()));
        response.end(
          JSON.stringify({ websocket: { url: `ws://127.0.0.1:${portOf(http)}/xiaozhi/v1/`, token: '', version: 1 } }),
        );
      });
    } else if (file) response.writeHead(200, { 'Content-Length': file.length }).end(file);
    else response.writeHead(404).end();
  });
  const conversations = new WebSocketServer({ server: http });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  closers.push(() => {
    for (const client of conversations.clients) client.terminate();
    http.closeAllConnections();
    http.close();
  });
  return { http, port: portOf(http), conversations, posted };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

interface Device {
  /** What it says of its upgrades. */
  readonly notices: DeviceNotice[];
  /** Its wake word, which it does not hear while it boots. */
  readonly talk: () => void;
}

/** One device that boots against this hub at a hundred times the speed. */
function startDevice(hub: Hub, ...behaviours: LastingBehaviour[]): Device {
  const notices: DeviceNotice[] = [];
  const dataDir = mkdtempSync(path.join(tmpdir(), 'flotilla-simulator-'));
  const settings = [
    '--devices',
    '1',
    '--profile',
    'lamp',
    '--speed',
    '100',
    '--reconnect-ms',
    '50',
    '--data-dir',
    dataDir,
  ];
  const faults = behaviours.flatMap((behaviour) => ['--behaviour', JSON.stringify(behaviour)]);
  const ota = ['--ota', `http://127.0.0.1:${hub.port}/ota/`];
  const options = readOptions(['node', 'simulate', ...settings, ...ota, ...faults], {});
  const nothing = () => undefined;
  const events = { onconnected: nothing, ondisconnected: nothing, onfailed: nothing };
  const fleet = new Fleet(options, { ...events, onnotice: (_, notice) => notices.push(notice) });
  closers.push(() => {
    fleet.stop();
    rmSync(dataDir, { recursive: true });
  });
  fleet.start();
  const talk = () => fleet.select('*').forEach((device) => device.behave({ kind: 'helloNow' }));
  return { notices, talk };
}

/** Talks to a device until it has connected for it: on WebSocket it is idle otherwise. */
async function conversation(hub: Hub, { talk }: Device): Promise<WebSocket> {
  const talking = setInterval(talk, 20);
  try {
    // Returned at once: the device says hello as soon as it is connected.
    const [socket] = (await once(hub.conversations, 'connection')) as [WebSocket];
    return socket;
  } finally {
    clearInterval(talking);
  }
}

/** Has the device fetch this file in a conversation. */
async function upgrade(hub: Hub, device: Device, file: string): Promise<void> {
  const socket = await conversation(hub, device);
  await once(socket, 'message');
  const params = { name: 'self.upgrade_firmware', arguments: { url: `http://127.0.0.1:${hub.port}${file}` } };
  socket.send(JSON.stringify({ type: 'hello', transport: 'websocket' }));
  socket.send(JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }));
}

describe('a firmware upgrade over HTTP', () => {
  it('fetches, checks, restarts, and asks and connects with the new version', async () => {
    const hub = await startHub();
    const device = startDevice(hub);
    await upgrade(hub, device, '/good.bin');
    await expect.poll(() => hub.posted.length, { timeout: 10_000 }).toBe(2);
    expect(hub.posted.map(({ application }) => application.version)).toEqual(['2.4.2', '2.5.0']);
    expect(hub.posted[1]?.application.elf_sha256).toBe('ab'.repeat(32));
    expect(device.notices).toEqual([{ kind: 'installed', version: '2.5.0' }]);
    await conversation(hub, device);
  });

  it.each([
    ['/missing.bin', 'HTTP 404'],
    ['/damaged.bin', 'CORRUPT'],
    ['/other-chip.bin', 'the image is for esp32c3, and this is esp32s3'],
  ])('does not take %s', async (file, reason) => {
    const hub = await startHub();
    const device = startDevice(hub);
    await upgrade(hub, device, file);
    await expect.poll(() => device.notices, { timeout: 10_000 }).toEqual([{ kind: 'updateFailed', reason }]);
    expect(hub.posted).toHaveLength(1);
  });

  it('loses the connection in the middle where a behaviour says so', async () => {
    const hub = await startHub();
    const device = startDevice(hub, { kind: 'downloadFault', how: 'breaks' });
    await upgrade(hub, device, '/good.bin');
    await expect.poll(() => device.notices, { timeout: 10_000 }).toMatchObject([{ kind: 'updateFailed' }]);
  });

  it('is back with the former version where the boot loader gives the new one up', async () => {
    const hub = await startHub();
    const device = startDevice(hub, {
      kind: 'upgradeFault',
      how: 'rollBack',
      board: 'bread-compact-wifi',
      version: '2.5.0',
    });
    await upgrade(hub, device, '/good.bin');
    await expect
      .poll(() => hub.posted.map(({ application }) => application.version), { timeout: 10_000 })
      .toEqual(['2.4.2', '2.4.2']);
  });
});
