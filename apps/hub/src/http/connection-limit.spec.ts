import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { limitConnections, connectionsMax } from './connection-limit.js';

it('leaves open files to the rest of the process', () => {
  expect([undefined, 1_048_576, 20_000, 1_024].map(connectionsMax)).toEqual([20_000, 20_000, 19_000, 921]);
});

it('drops connections above the maximum, and warns once', async () => {
  const warn = vi.fn();
  const server = limitConnections(createServer(), { warn }, 2).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  const closed = sockets.map((socket) => once(socket.resume(), 'close'));
  await vi.waitFor(() => expect(sockets.filter(({ closed: isClosed }) => isClosed)).toHaveLength(2));
  expect(warn).toHaveBeenCalledExactlyOnceWith({ connectionsMax: 2 }, expect.stringContaining('drops new ones'));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  server.close();
});

it('knows the limit of this process, and asks no name server for it', () => {
  const getReport = vi.spyOn(process.report, 'getReport');
  onTestFinished(() => getReport.mockRestore());
  const server = limitConnections(createServer(), { warn: () => undefined });
  expect(server.maxConnections).toBeGreaterThan(0);
  expect(server.maxConnections).toBeLessThanOrEqual(20_000);
  expect(getReport).toHaveReturnedWith(
    expect.objectContaining({ header: expect.not.objectContaining({ networkInterfaces: expect.anything() }) }),
  );
});
