import { describe, expect, it } from 'vitest';
import { clientIdMax, parseDeviceIdHeader, parseMqttClientId } from './device-identity.js';

describe('parseMqttClientId', () => {
  it('finds the MAC in xiaozhi ids with and without a UUID', () => {
    expect(parseMqttClientId('GID_lab@@@02_5E_7a_10_c4_9f@@@3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21')).toEqual({
      ok: true,
      deviceId: '02:5e:7a:10:c4:9f',
      dialect: 'XIAOZHI',
      group: 'GID_lab',
      uuid: '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
    });
    expect(parseMqttClientId('GID_lab@@@02_5e_7a_10_c4_9f')).toEqual({
      ok: true,
      deviceId: '02:5e:7a:10:c4:9f',
      dialect: 'XIAOZHI',
      group: 'GID_lab',
    });
  });

  it('finds the microcontroller id in MCP/U client ids', () => {
    for (const id of ['mcpu@@@greenhouse-7', 'mcpu@@@greenhouse-7@@@3b0c5b1e'])
      expect(parseMqttClientId(id)).toEqual({ ok: true, deviceId: 'greenhouse-7', dialect: 'MCPU' });
  });

  it.each([
    'mcpu@@@',
    'mcpu@@@02:5e:7a:10:c4:9f',
    'mcpu@@@a/b',
    'mcpu@@@Greenhouse',
    `mcpu@@@${'x'.repeat(65)}`,
    'mcpu@@@+@@@x',
  ])('rejects %s, which does not identify a microcontroller', (clientId) => {
    expect(parseMqttClientId(clientId).ok).toBe(false);
  });

  it('uses any other client id unchanged', () => {
    for (const id of ['greenhouse-7', 'GID@@@not-a-mac@@@x', '灯-1'])
      expect(parseMqttClientId(id)).toEqual({ ok: true, deviceId: id, dialect: 'XIAOZHI' });
  });

  it.each(['02:5e:7a:10:c4:9f', '02_5E_7A_10_C4_9F', '02-5e-7a-10-c4-9f', '025e7a10c49f'])(
    'rejects %s, which could be mistaken for the device with that MAC',
    (clientId) => {
      expect(parseMqttClientId(clientId)).toMatchObject({ ok: false, problem: expect.stringContaining('MAC') });
    },
  );

  it.each(['', 'a\0b', 'a\nb', 'x'.repeat(clientIdMax + 1), '\ud800'])('refuses %j', (clientId) => {
    expect(parseMqttClientId(clientId).ok).toBe(false);
  });
});

describe('parseDeviceIdHeader', () => {
  it('accepts a MAC in any notation', () => {
    expect(parseDeviceIdHeader('02:5E:7A:10:C4:9F')).toEqual({
      ok: true,
      deviceId: '02:5e:7a:10:c4:9f',
      dialect: 'XIAOZHI',
    });
  });

  it('rejects everything else', () => {
    for (const header of [undefined, '', 'x', '02:5e:7a:10:c4', '02:5e:7a:10:c4:9f:00'])
      expect(parseDeviceIdHeader(header).ok).toBe(false);
  });
});
