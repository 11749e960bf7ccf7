/** Devices that are expelled while they have no session yet, or connect again at once. */
import { once } from 'node:events';
import type { DeviceId } from '@flotilla/mcp';
import { openRegistry } from '@flotilla/registry';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { lampId } from '../gateway-stage.suite.js';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';

const hub = openSpecHub();
let stage: GatewayStage;

beforeEach(async () => {
  stage = await hub.openStage();
});
afterEach(() => stage.close());

const expel = async (deviceId: string) => {
  const isHeard = new Promise((resolve) => onTestFinished(hub.bus.feed.subscribe('expelled', resolve)));
  hub.bus.feed.publish('expelled', { deviceId: deviceId as DeviceId });
  await isHeard;
};
const refusals = () => stage.gateway.status().counts.find(({ name }) => name === 'refusal_credentials_wrong')?.count;

describe('a device that is expelled', () => {
  it('before its hello gets no session, and gets one when it connects again', async () => {
    const socket = await stage.connectTalkingLamp({ beforeHello: () => expel(lampId) });
    await once(socket, 'close');
    expect([refusals(), stage.gateway.status().sessions]).toEqual([1, []]);
    const again = await stage.connectTalkingLamp();
    await stage.entry();
    again.close();
  });

  it('before it has subscribed gets no session', async () => {
    const board = await stage.connectLamp({ clientId: 'mcpu@@@greenhouse-7@@@1' });
    await board.connack();
    await expel('greenhouse-7');
    const topic = 'mcpu/greenhouse-7/request';
    board.write({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 0 }] });
    await board.closed();
    expect([refusals(), stage.gateway.status().sessions]).toEqual([1, []]);
  });

  it('cannot connect again with credentials that this process remembers', async () => {
    const other = await openRegistry({ databaseUrl: hub.databaseUrl, poolMax: 2 });
    onTestFinished(() => other.close());
    const { credentials, enrolments } = hub.registry;
    const deviceId = 'greenhouse-8' as DeviceId;
    await enrolments.register([{ deviceId, dialect: 'MCPU', name: undefined, tags: [], transport: 'WEBSOCKET' }]);
    const { secret: token = '' } = (await credentials.rotate(deviceId, Date.now())) ?? {};
    expect(await credentials.checkToken({ deviceId, token })).toMatchObject({ kind: 'granted' });
    await other.enrolments.remove(deviceId);
    await expel(deviceId);
    expect(await credentials.checkToken({ deviceId, token })).toMatchObject({ kind: 'refused' });
  });
});
