import { clientIdMax } from '@flotilla/mcp';
import type { DeviceId } from '@flotilla/mcp';
import { expect, it } from 'vitest';
import { UrlSigner } from '../device-urls/url-signer.js';
import { DeviceGrants } from './device-grants.js';

const grants = new DeviceGrants(new UrlSigner('a secret of this hub'));
const connectedAt = Date.UTC(2026, 10, 28);

it.each([
  ['a MAC address', '02:5e:7a:10:c4:9f'],
  ['an MQTT client id of the greatest length', '湿'.repeat(clientIdMax)],
])('reads its tokens of a device whose id is %s', (_id, text) => {
  const deviceId = text as DeviceId;
  const token = grants.visionToken({ deviceId, connectedAt });
  expect(grants.readVisionToken(token, connectedAt)).toEqual({ deviceId, connectedAt });
  const ticketId = '0192aa00-0000-7000-8000-000000000001';
  const path = grants.snapshotPath({ deviceId, ticketId }, connectedAt + 60_000);
  expect(grants.readSnapshotPath(path, connectedAt)).toEqual({ deviceId, ticketId });
});
