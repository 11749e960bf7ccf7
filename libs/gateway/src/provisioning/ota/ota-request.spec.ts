import { parseInitializeResult } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { readOtaRequest } from './ota-request.js';

const headers = {
  'device-id': '02:5E:7A:10:C4:9F',
  'client-id': '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
  'user-agent': 'lichuang-dev/2.4.2',
};
const description = {
  mac_address: '02:5e:7a:10:c4:a0',
  uuid: '00000000-0000-4000-8000-000000000000',
  application: { name: 'xiaozhi', version: '2.4.3' },
  board: { type: 'lichuang-dev', name: 'lichuang-dev-plus' },
};

describe('readOtaRequest', () => {
  it('reads ids from the headers, and version and model from the description', () => {
    expect(readOtaRequest(headers, JSON.stringify(description))).toMatchObject({
      deviceId: '02:5e:7a:10:c4:9f',
      clientUuid: '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21',
      model: 'lichuang-dev-plus',
      firmwareVersion: '2.4.3',
    });
  });

  it.each(['', '{"board":{"ssid":"my "lan""}}', '[]', 'null', '"x"', '{"application":7,"board":[]}'])(
    'uses the headers alone for the body %j',
    (body) => {
      expect(readOtaRequest(headers, body)).toMatchObject({
        deviceId: '02:5e:7a:10:c4:9f',
        clientUuid: headers['client-id'],
        model: 'lichuang-dev',
        firmwareVersion: '2.4.2',
      });
    },
  );

  it('uses the description alone', () => {
    expect(readOtaRequest({}, JSON.stringify(description))).toMatchObject({
      deviceId: '02:5e:7a:10:c4:a0',
      clientUuid: description.uuid,
    });
  });

  it('ignores invalid ids', () => {
    const request = readOtaRequest({ 'device-id': 'printer', 'client-id': 'x'.repeat(65), 'user-agent': 'curl' }, '');
    expect(request).toMatchObject({
      deviceId: undefined,
      clientUuid: undefined,
      model: undefined,
      firmwareVersion: undefined,
      body: {},
    });
  });

  it('strips and limits texts that people will read', () => {
    const request = readOtaRequest(headers, JSON.stringify({ board: { name: `a\u0000\u001b[31m${'x'.repeat(500)}` } }));
    expect(request.model).toMatch(/^a \[31mx+$/);
    expect(request.model).toHaveLength(128);
  });

  it.each(['2.4.2\u0007beta', ' 2.4.2\n', `${'1'.repeat(127)}😀`, '2.4.2\ud83d', '\u0000'])(
    'reads version %j as the greeting does, so that it does not change with each connect',
    (version) => {
      const { firmwareVersion } = readOtaRequest({}, JSON.stringify({ application: { version } }));
      expect(firmwareVersion).toBe(parseInitializeResult({ serverInfo: { version } }).firmwareVersion);
    },
  );
});
