import { RegistryError } from '@flotilla/registry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answerAsFirmware } from '../firmware.suite.js';
import { silentLogger } from '../ingress.suite.js';
import { lampId } from '../gateway-stage.suite.js';
import type { GatewayStage } from '../gateway-stage.suite.js';
import type { MqttDevice } from '../mqtt/mqtt-device.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import type { SessionStores } from './record-context.js';

const hub = openSpecHub();
let stage: GatewayStage;

beforeEach(async () => {
  stage = await hub.openStage();
});

afterEach(() => stage.close());

describe('changes since the last session', () => {
  it('are events for tools and firmware', async () => {
    const before = await stage.connectLamp({ version: '2.4.1', tools: ['a', 'b'] });
    const { epoch } = await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    await stage.connectLamp({ version: '2.4.2', tools: ['b', 'c'], description: 'says more' });
    await stage.entry(epoch);
    const lastOf = (type: string) => stage.events.findLast((one) => one.type === type)?.data;
    await vi.waitFor(() => expect(lastOf('firmware.changed')).toEqual({ from: '2.4.1', to: '2.4.2' }));
    await vi.waitFor(() =>
      expect(lastOf('tools.changed')).toMatchObject({ added: ['c'], removed: ['a'], changed: ['b'] }),
    );
  });

  it('are events for a session that ended while it was written', async () => {
    const before = await stage.connectLamp({ version: '2.4.1', tools: ['a'] });
    await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    await stage.close();
    const { devices } = hub.registry;
    const connected: MqttDevice[] = [];
    const connect: SessionStores['devices']['connect'] = async (device) => {
      const answer = await devices.connect(device);
      connected[0]?.conn.destroy();
      await vi.waitFor(() => expect(stage.gateway.status().sessions).toEqual([]));
      return answer;
    };
    const slow: SessionStores['devices'] = {
      connect,
      ready: (one) => devices.ready(one),
      closeSession: (one) => devices.closeSession(one),
      report: (one) => devices.report(one),
    };
    stage = await hub.openStage({ registry: { ...hub.registry, devices: slow } });
    connected.push(await stage.connectLamp({ version: '2.4.2', tools: ['b'] }));
    await stage.event('device.disconnected');
    expect(stage.events.map(({ type }) => type)).toEqual([
      'device.connected',
      'firmware.changed',
      'tools.changed',
      'device.disconnected',
    ]);
    expect(await hub.bus.directory.lookup(lampId)).toBeUndefined();
    await expect.poll(() => stage.presences).toEqual(['OFFLINE']);
  });

  it('are not reported if the listing failed: the device keeps its last good tools', async () => {
    const before = await stage.connectLamp({ tools: ['kept'] });
    const { epoch, toolSetHash } = await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    const device = await stage.connectLamp();
    device.answer = (text) => (text.includes('tools/list') ? refuseRequest(text) : answerAsFirmware(text));
    expect((await stage.entry(epoch)).toolSetHash).toBe(toolSetHash);
    expect(await hub.registry.devices.find(lampId)).toMatchObject({
      presence: 'ONLINE',
      toolSetHash,
      toolsStale: true,
    });
  });

  it('are not reported if PostgreSQL refuses the tools: the device is online with its last good ones', async () => {
    const before = await stage.connectLamp({ tools: ['kept'] });
    const { epoch, toolSetHash } = await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    await stage.close();
    const errors: string[] = [];
    const { toolSets } = hub.registry;
    const cause = Object.assign(new Error('unsupported Unicode escape sequence'), { code: '22P05' });
    const refused = new RegistryError('DATABASE_REFUSED', 'PostgreSQL refused a statement.', { cause });
    const refuse = () => Promise.reject(refused);
    stage = await hub.openStage({
      registry: { ...hub.registry, toolSets: { ensure: refuse, get: (hash) => toolSets.get(hash) } },
      logger: { ...silentLogger, error: (_details, message) => errors.push(message) },
    });
    await stage.connectLamp({ tools: ['refused'] });
    expect((await stage.entry(epoch)).toolSetHash).toBe(toolSetHash);
    await stage.event('device.connected');
    expect(await hub.registry.devices.find(lampId)).toMatchObject({
      presence: 'ONLINE',
      toolSetHash,
      toolsStale: true,
    });
    expect(stage.events.map(({ type }) => type)).not.toContain('tools.changed');
    expect(errors).toEqual([expect.stringMatching(/refused the tools/)]);
  });

  it('are listed again later if the first listing failed', async () => {
    await stage.close();
    stage = await hub.openStage({ limits: { listingRetryMs: 20 } });
    const device = await stage.connectLamp();
    let requests = 0;
    // The session itself sends the first request of a listing twice.
    device.answer = (text) =>
      text.includes('tools/list') && (requests += 1) <= 2 ? refuseRequest(text) : answerAsFirmware(text);
    await vi.waitFor(() => expect(stage.gateway.toolSetOf(lampId)?.tools).toHaveLength(1));
    await vi.waitFor(async () => expect((await hub.registry.devices.find(lampId))?.toolsStale).toBe(false));
    expect(requests).toBe(3);
  });

  it('are marked stale if a later listing failed', async () => {
    const device = await stage.connectLamp();
    const { toolSetHash } = await stage.entry();
    const staleness = async () => (await hub.registry.devices.find(lampId))?.toolsStale;
    expect(await staleness()).toBe(false);
    device.answer = refuseRequest;
    stage.gateway.callServer.refreshTools(lampId);
    await vi.waitFor(async () => expect(await staleness()).toBe(true));
    expect(await hub.bus.directory.lookup(lampId)).toMatchObject({ toolSetHash });
    // Voice servers, polls and calls of other processes go on with what the device listed before.
    expect(stage.gateway.toolSetOf(lampId)?.hash).toBe(toolSetHash);
  });
});

function refuseRequest(text: string): string {
  const request = JSON.parse(text) as { readonly payload: { readonly id: number } };
  const payload = { jsonrpc: '2.0', id: request.payload.id, error: { message: 'no' } };
  return JSON.stringify({ session_id: '', type: 'mcp', payload });
}
