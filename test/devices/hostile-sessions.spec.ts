/** Hostile messages of a connected device: no text and no tool name harms its session or others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, isOnline } from '../src/devices/device-api.js';
import { answerAsFirmware, answerTo, lamp, requestIn } from '../src/devices/firmware.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { startHubUnderFire, type HubUnderFire } from '../src/fuzz/hub-under-fire.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { RawWebSocketDevice } from '../src/devices/raw-websocket-device.js';

const mac = '02:00:00:00:09:01';
const otherMac = '02:00:00:00:09:02';

describe('a hostile device', () => {
  let hub: HubProcess;
  let fire: HubUnderFire;

  beforeAll(async () => {
    fire = await startHubUnderFire();
    ({ hub } = fire);
  });
  afterAll(() => fire.stop());

  it.each([
    ['MQTT', () => RawMqttDevice.connect(hub, mac)],
    ['WebSocket', () => RawWebSocketDevice.connect(hub, mac)],
  ])('over %s no text harms the connection', async (_transport, connect) => {
    const device = await connect();
    await deviceThat(hub, mac, isOnline);
    const texts = [
      '',
      ' ',
      '{',
      '}',
      'null',
      '5',
      '"x"',
      '[]',
      '{}',
      '\u0000',
      '\ufffd',
      '{"type":null}',
      '{"type":"mcp"}',
      '{"type":"mcp","payload":[]}',
      '{"TYPE":"mcp","PAYLOAD":{}}',
      '{"type":"mcp","payload":{"jsonrpc":"1.0","id":1,"result":{}}}',
      '{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"self.reboot"}}}',
      '{"type":"mcp","payload":{"jsonrpc":"2.0","method":5}}',
      '{"type":"mcp","payload":{"jsonrpc":"2.0","method":"notifications/x","params":"\\u0000\\ud800"}}',
      '{"type":"__proto__","__proto__":{"type":"mcp"},"constructor":{"prototype":{"polluted":true}}}',
      `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
      `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
      `{"type":"${'x'.repeat(60_000)}"}`,
      `{"type":"mcp","payload":{"jsonrpc":"2.0","method":"${'m'.repeat(50_000)}",` +
        `"params":{"p":"${'y'.repeat(10_000)}"}}}`,
      `{"type":"mcp","payload":{"jsonrpc":"2.0","id":${'9'.repeat(5_000)},"result":{}}}`,
    ];
    for (const text of texts) device.say(text);
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(device.isClosed).toBe(false);
    device.drop();
    await deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');
  });

  it('accepts any object for a tool with an unreadable schema, and never sends hostile names', async () => {
    const schemas = [
      { type: 'alien' },
      { $ref: 'http://evil.example/schema' },
      { if: {}, then: {} },
      { type: 'object', properties: null },
      { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' }, constructor: { type: 'string' } } },
    ];
    const hostileNames = [
      '__proto__',
      'constructor',
      'a"b',
      'a\\b',
      'tab\there',
      'nul\u0000',
      "'; DROP TABLE device; --",
      '<script>alert(1)</script>',
      'ä'.repeat(200),
      'self.Lamp.turn_on',
    ];
    const tools = [
      lamp,
      ...schemas.map((inputSchema, at) => ({ name: `odd.${at}`, description: 'x', inputSchema })),
      ...hostileNames.map((name) => ({ name, description: name, inputSchema: lamp.inputSchema })),
      null,
      5,
      {},
      { name: 5 },
      { name: '' },
      { name: 'x'.repeat(10_000) },
      { name: 'no-schema' },
    ];
    const called: unknown[] = [];
    const device = await RawMqttDevice.connect(hub, otherMac, {
      answer: (text) => {
        const request = requestIn(text);
        if (request?.method === 'tools/call') called.push(request.params);
        return request?.method === 'tools/list' ? answerTo(request, { tools }) : answerAsFirmware(text);
      },
    });
    const view = await deviceThat(hub, otherMac, (found) => isOnline(found) && found.tools.length > 5);
    const shown = new Map(view.tools.map((tool) => [tool.name, tool]));
    for (const at of schemas.keys()) {
      expect(shown.get(`odd.${at}`)?.schemaKnown, `odd.${at}`).toBe(false);
      const input = { deviceId: otherMac, tool: `odd.${at}`, arguments: { any: ['thing', { deep: true }] } };
      expect(await callTool(hub, input), `odd.${at}`).toMatchObject({ outcome: 'SUCCEEDED' });
      expect(called.at(-1)).toEqual({ name: `odd.${at}`, arguments: input.arguments });
    }
    expect(shown.has('no-schema')).toBe(true);
    for (const name of hostileNames.filter((each) => shown.has(each))) {
      const { outcome, error } = await callTool(hub, { deviceId: otherMac, tool: name });
      // A name that firmware could not repeat in an error message is not sent.
      const isSendable = !/["\\\p{Cc}]/u.test(name);
      expect({ name, outcome, code: error?.code }).toEqual({
        name,
        outcome: isSendable ? 'SUCCEEDED' : 'REJECTED',
        code: isSendable ? undefined : 'TOOL_UNKNOWN',
      });
    }
    device.drop();
    await fire.expectUnharmed();
  });
});
