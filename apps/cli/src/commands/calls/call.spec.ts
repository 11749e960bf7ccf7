import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';

it.each([
  ['call', ['call', '02:00', 'self.dispense', '--yes']],
  ['devices show-image', ['devices', 'show-image', '02:00', '01990000-0000-7000-8000-000000000009']],
  ['devices snapshot', ['devices', 'snapshot', '02:00']],
])('%s whose answer is lost has an unknown outcome; one that was never sent may be repeated', async (_name, line) => {
  let received = 0;
  const server = createServer((request) => {
    received += 1;
    request.resume().on('end', () => request.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hub = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const lost = await runCommand(hub, line);
  expect([lost.code, received]).toEqual([3, 1]);
  expect(lost.problem).toContain('Outcome unknown: the device may have done it.');
  server.close();
  await once(server, 'close');
  const unsent = await runCommand(hub, line);
  expect([unsent.code, unsent.problem]).toEqual([4, expect.stringContaining('cannot be reached')]);
});
