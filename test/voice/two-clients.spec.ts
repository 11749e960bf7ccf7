/**
 * One device with two MCP clients at the same time: the voice server of its conversation, and an
 * operator. Each client gets its own answers, with the ids it chose.
 */
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { callTool, deviceThat, isOnline } from '../src/devices/device-api.js';
import { answerAsFirmware, answerTo, requestIn, type DeviceRequest } from '../src/devices/firmware.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from '../src/devices/raw-websocket-device.js';
import { eventually } from '../src/eventually.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { openEchoServer, type EchoServer } from '../src/voice/echo-server.js';

/** The device returns the text. */
const say = {
  name: 'self.say',
  description: 'Says a text',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
/** A device needs some time; other requests wait meanwhile. */
const TAKES_MS = 5;
const ROUNDS = 8;

let hub: HubProcess;
let echo: EchoServer;
let device: RawMqttDevice | RawWebSocketDevice;
/** Calls of the device in order of arrival, and the number of simultaneous ones. */
let calls: DeviceRequest[];
let inFlight: number;
let mostInFlight: number;

function answer(text: string): string | undefined {
  const request = requestIn(text);
  if (request?.method !== 'tools/call') return answerAsFirmware(text, { tools: [say] });
  calls.push(request);
  mostInFlight = Math.max(mostInFlight, (inFlight += 1));
  setTimeout(() => {
    inFlight -= 1;
    device.say(answerTo(request, { content: [{ type: 'text', text: told(request) }], isError: false }));
  }, TAKES_MS);
  return undefined;
}

const told = ({ params }: DeviceRequest) => String(params?.arguments?.['text']);

async function connect(transport: 'MQTT' | 'WEBSOCKET', mac: string): Promise<WebSocket> {
  device =
    transport === 'MQTT' ? await RawMqttDevice.connect(hub, mac, { answer }) : await RawWebSocketDevice.dial(hub, mac);
  device.answer = answer;
  const hello = JSON.parse(webSocketHello) as object;
  device.say(JSON.stringify(transport === 'MQTT' ? { ...hello, version: 3, transport: 'udp' } : hello));
  await deviceThat(hub, mac, isOnline);
  const [backend] = await eventually(
    () => [...echo.sockets],
    ({ length }) => length === 1,
  );
  if (backend === undefined) throw new Error('The voice server has no conversation.');
  return backend;
}

type Id = string | number;

/**
 * The voice server makes several calls at once with its own ids. Resolves with the answers and
 * their ids.
 */
async function askedByBackend(backend: WebSocket, ids: readonly Id[]): Promise<readonly (readonly [Id, unknown])[]> {
  const answers: [Id, unknown][] = [];
  const done = new Promise<void>((resolve) => {
    backend.on('message', function hear(data: Buffer, isBinary: boolean) {
      const message = isBinary
        ? undefined
        : (JSON.parse(data.toString()) as { type: string; payload: { id: Id; result: unknown } });
      if (message?.type !== 'mcp') return;
      answers.push([message.payload.id, message.payload.result]);
      if (answers.length < ids.length) return;
      backend.off('message', hear);
      resolve();
    });
  });
  for (const id of ids) {
    const params = { name: say.name, arguments: { text: `backend ${JSON.stringify(id)}` } };
    backend.send(
      JSON.stringify({
        session_id: 'echo',
        type: 'mcp',
        payload: { jsonrpc: '2.0', id, method: 'tools/call', params },
      }),
    );
  }
  await done;
  return answers;
}

describe('a device that two clients call at once', () => {
  beforeAll(async () => {
    echo = await openEchoServer();
    hub = await startHub({ env: { FLOTILLA_VOICE_URL: echo.url } });
  });
  afterEach(() => device.drop());
  afterAll(async () => {
    await echo.close();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  it.each([
    ['WEBSOCKET', '02:00:00:00:0a:01'],
    ['MQTT', '02:00:00:00:0a:02'],
  ] as const)('over %s answers each client, one call at a time', async (transport, mac) => {
    [calls, inFlight, mostInFlight] = [[], 0, 0];
    const backend = await connect(transport, mac);
    const byBackend = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        // Texts and numbers, some of which look alike, and small ones as the hub itself uses.
        const ids = [round, `${round}`, `turn-${round}`, -round - 0.5];
        const answers = await askedByBackend(backend, ids);
        for (const id of ids)
          expect(answers).toContainEqual([
            id,
            { content: [{ type: 'text', text: `backend ${JSON.stringify(id)}` }], isError: false },
          ]);
      }
    };
    const byOperator = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const texts = [`operator ${round}`, `operator ${round} too`];
        const answers = await Promise.all(
          texts.map((text) => callTool(hub, { deviceId: mac, tool: say.name, arguments: { text } })),
        );
        expect(answers.map(({ outcome, result }) => [outcome, result?.text])).toEqual(
          texts.map((text) => ['SUCCEEDED', text]),
        );
      }
    };
    await Promise.all([byBackend(), byOperator()]);
    expect(calls).toHaveLength(ROUNDS * 6);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(ROUNDS * 6);
    expect(mostInFlight).toBe(1);
    const order = calls.map((call) => told(call).split(' ')[0]).join(' ');
    expect(order).toMatch(/backend.*operator.*backend/);
    expect(order).toMatch(/operator.*backend.*operator/);
    if (backend.readyState !== backend.CLOSED) {
      device.drop();
      await once(backend, 'close');
    }
  });
});
