import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ListenError, listening, listenMqtt, portOf } from './listeners.js';

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
const messageOf = (open: () => Promise<unknown>) =>
  listening('FLOTILLA_MQTT_PORT', '127.0.0.1', 1883, open).catch((error: unknown) =>
    error instanceof ListenError ? error.message : error,
  );

describe('a listener that cannot be opened', () => {
  it('names the setting of a port that is taken', async () => {
    const taken = await listenMqtt('127.0.0.1', 0, (socket) => socket.destroy());
    const port = portOf(taken);
    const message = await listening('FLOTILLA_MQTT_PORT', '127.0.0.1', port, () =>
      listenMqtt('127.0.0.1', port, (socket) => socket.destroy()),
    ).catch(String);
    expect(message).toContain(
      `Port ${port} on 127.0.0.1 cannot be opened: another program uses it. Set FLOTILLA_MQTT_PORT`,
    );
    await new Promise((resolve) => taken.close(resolve));
  });

  it('has no other port for MQTT over TLS', async () => {
    const message = await listening('FLOTILLA_MQTTS_PORT', '127.0.0.1', 8883, failing('EADDRINUSE')).catch(String);
    expect(message).toContain('Stop that program, or behind a TCP proxy set FLOTILLA_MQTTS_PORT to 0.');
  });

  it('names FLOTILLA_HOST when the address is not one of this machine', async () => {
    const server = createServer();
    const elsewhere = () =>
      new Promise((_resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '192.0.2.1');
      });
    expect(await messageOf(elsewhere)).toContain('Set FLOTILLA_HOST');
  });

  it('reports a port that only root may open', async () => {
    expect(await messageOf(failing('EACCES'))).toContain('may not open ports below 1024');
  });

  it('finds the system’s reason below an error of the gateway', async () => {
    const cause = Object.assign(new Error('bind EADDRINUSE'), { code: 'EADDRINUSE' });
    const wrapped = Object.assign(new Error('cannot bind UDP', { cause }), { code: 'UDP_UNAVAILABLE' });
    expect(await messageOf(() => Promise.reject(wrapped))).toContain('another program uses it');
  });
});
