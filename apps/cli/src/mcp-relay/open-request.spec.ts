import { getEventListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import { OpenRequest } from './open-request.js';

const request = () => new OpenRequest({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

it('leaves no listener after a pause, however often the request is sent again', async () => {
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  const open = request();
  await open.pause(0);
  await open.pause(0);
  const [signal] = added.mock.contexts as AbortSignal[];
  added.mockRestore();
  expect(signal && getEventListeners(signal, 'abort')).toEqual([]);
});

it('ends its pause when the host cancels it', async () => {
  const open = request();
  const pause = open.pause(60_000);
  open.cancel();
  await expect(pause).resolves.toBeUndefined();
});
