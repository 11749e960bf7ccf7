import type { JsonObject } from '@flotilla/mcp';
import type { StoredTool } from '@flotilla/registry';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, listed, openServer, RelayStage } from './relay-stage.suite.js';
import type { VoiceServer } from '../backend/voice-server.js';

afterEach(closeAll);

describe('a voice server that uses MCP', () => {
  const tools = [
    {
      name: 'self.lamp.turn_on',
      description: 'On.',
      inputSchema: { type: 'object', properties: {} },
      userOnly: false,
      schemaKnown: true,
    },
    {
      name: 'self.reboot',
      description: 'Reboot.',
      inputSchema: { type: 'object', properties: {} },
      userOnly: true,
      schemaKnown: true,
    },
  ] as const satisfies readonly StoredTool[];

  async function converse(rights: Partial<VoiceServer> = {}) {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server, rights)] });
    stage.device.device = { ...stage.device.device, tools };
    await stage.converse('websocket', 1);
    const heard = await server.conversation();
    const ask = async (payload: JsonObject) => {
      const before = heard.texts.length;
      heard.socket.send(JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', ...payload } }));
      await vi.waitFor(() => expect(heard.texts.length).toBeGreaterThan(before));
      const message = JSON.parse(heard.texts.at(-1) ?? '') as { session_id: string; payload: JsonObject };
      expect(message.session_id).toBe('b-1');
      return message.payload;
    };
    return { ask, heard, stage };
  }

  it('is answered from what the hub knows, and its ids are returned unchanged', async () => {
    const { ask, stage } = await converse();
    expect(await ask({ id: 'greet-1', method: 'initialize' })).toMatchObject({
      id: 'greet-1',
      result: { protocolVersion: '2024-11-05', serverInfo: { name: 'lamp', version: '2.4.2' } },
    });
    expect(await ask({ id: 0, method: 'tools/list', params: { withUserTools: true } })).toMatchObject({
      id: 0,
      result: { tools: [{ name: 'self.lamp.turn_on' }] },
    });
    expect(await ask({ id: 2.5, method: 'resources/list' })).toMatchObject({ id: 2.5, error: { code: -32_601 } });
    expect(stage.device.said).toEqual([]);
  });

  it('calls tools with the usual checks, user-only ones only with the right to do so', async () => {
    const { ask, stage } = await converse();
    const call = { method: 'tools/call', params: { name: 'self.lamp.turn_on', arguments: { r: 1 } } };
    expect(await ask({ id: 7, ...call })).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'text', text: 'true' }], isError: false },
    });
    expect(stage.asked).toMatchObject([
      { deviceId: stage.device.deviceId, tool: 'self.lamp.turn_on', arguments: { r: 1 } },
    ]);
    const unknown = (name: string) => ({ error: { code: -32_602, message: `Unknown tool: ${name}` } });
    expect(await ask({ id: 'none', method: 'tools/call', params: { name: 'hub.alert' } })).toMatchObject(
      unknown('hub.alert'),
    );
    expect(stage.asked, 'nothing to record').toHaveLength(1);
    stage.called = { kind: 'error', message: 'The device said no.', isInvalid: false };
    expect(await ask({ id: 9, ...call })).toMatchObject({ error: { code: -32_000, message: 'The device said no.' } });
    // Rejected by the usual checks, which record it.
    expect(await ask({ id: 8, method: 'tools/call', params: { name: 'self.reboot' } })).toMatchObject({
      id: 8,
      ...unknown('self.reboot'),
    });
    expect(stage.asked).toHaveLength(3);

    const allowed = await converse({ mayCallUserOnly: true });
    expect(await allowed.ask({ id: 1, method: 'tools/call', params: { name: 'self.reboot' } })).toMatchObject({
      result: { isError: false },
    });
  });

  it('waits for the tools of a device that has just connected', async () => {
    const { ask, stage } = await converse();
    const known = stage.device.device;
    stage.device.device = { ...known, tools: undefined };
    const listed = ask({ id: 1, method: 'tools/list' });
    await stage.lookedAtDevice();
    stage.device.device = known;
    expect(await listed).toMatchObject({ result: { tools: [{ name: 'self.lamp.turn_on' }] } });
  });
});
