/** Credentials against worked examples, and where the secret comes from. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FleetSecret, mqttCredentials, mqttPassword, webSocketToken } from './credentials.js';

const mac = '02:5e:7a:10:c4:9f';
const uuid = '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';

describe('device credentials', () => {
  it('sign the WebSocket token over uuid, MAC and seconds', () => {
    expect(webSocketToken('ws-shared-secret', { mac, uuid, clientId: '' }, 1_786_000_000_000)).toBe(
      'AU04tx_frgX2AfFEjsNCPdT8LmnYZiiXzqNYmpKgVaU.1786000000',
    );
  });

  it('sign the MQTT password over client id and user name', () => {
    const clientId = `GID_lab@@@02_5e_7a_10_c4_9f@@@${uuid}`;
    expect(mqttPassword('Hub-Signing-Key-01', { clientId, username: 'eyJpcCI6IjE5Mi4wLjIuNDQifQ==' })).toBe(
      'cRoD84Ahoo4Yhs5g8896WnwsCSy3eIoPJg7Us/40gKQ=',
    );
    const { username, password } = mqttCredentials('secret', clientId);
    expect(password).toBe(mqttPassword('secret', { clientId, username }));
  });

  it('find the secret in the data folder even when the hub makes it later', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-secret-'));
    try {
      const secret = new FleetSecret(undefined, folder);
      expect(secret.read()).toBeUndefined();
      writeFileSync(secret.file, 'from-the-hub\n');
      expect(secret.read()).toBe('from-the-hub');
      expect(new FleetSecret('given', folder).read()).toBe('given');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
