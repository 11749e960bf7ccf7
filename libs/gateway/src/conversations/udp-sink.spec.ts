import { createSocket } from 'node:dgram';
import { describe, expect, it, vi } from 'vitest';
import { UdpSink } from './udp-sink.js';

describe('UdpSink', () => {
  it('counts what arrives on its real port', async () => {
    const sink = await UdpSink.open({ host: '127.0.0.1', port: 0 });
    const sender = createSocket('udp4');
    sender.send('audio', sink.port, '127.0.0.1');
    await vi.waitFor(() => expect(sink.packets).toBe(1));
    sender.close();
    await sink.close();
  });

  it('says which port it cannot have', async () => {
    const taken = await UdpSink.open({ host: '127.0.0.1', port: 0 });
    await expect(UdpSink.open({ host: '127.0.0.1', port: taken.port })).rejects.toMatchObject({
      code: 'UDP_UNAVAILABLE',
      message: `cannot bind UDP 127.0.0.1:${taken.port}`,
    });
    await taken.close();
  });
});
