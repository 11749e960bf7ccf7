import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { ClientDocuments } from './client-documents.js';

const documents = new ClientDocuments();

afterAll(() => documents.close());

describe('documents of clients', () => {
  it('are never fetched from inside the network', async () => {
    let connections = 0;
    const server = createServer().on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])
      await expect(documents.fetch(`https://${host}:${port}/client.json`)).rejects.toThrow('not a public address');
    await expect(documents.fetch('https://169.254.169.254/latest')).rejects.toThrow('not a public address');
    expect(connections).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });

  it('have an https address', async () => {
    await expect(documents.fetch('http://agent.example/client.json')).rejects.toThrow('https');
  });
});
