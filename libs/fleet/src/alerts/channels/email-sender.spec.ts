import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OutgoingMessage } from './channel-request.js';
import { EmailSender } from './email-sender.js';

const message: OutgoingMessage = {
  id: 'm1',
  type: 'alert.fired',
  at: 0,
  alerts: [],
  text: { title: 'Offline', lines: [], link: undefined },
};

let server: Server;
let answerMs: number;
let sockets: Socket[];
let sender: EmailSender | undefined;

/** A mail server that takes its time for each answer. */
beforeEach(async () => {
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    let isBody = false;
    const answer = (line: string) => void setTimeout(() => socket.write(`${line}\r\n`), answerMs);
    answer('220 mail.example');
    createInterface({ input: socket }).on('line', (line) => {
      if (isBody && line !== '.') return;
      isBody = line === 'DATA';
      if (line.includes('left@')) answer('550 no such user, load 100%');
      else answer(isBody ? '354 go on' : '250 ok');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  sender?.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

const never = new AbortController().signal;

function send(attemptMs: number, to: readonly string[] = ['shift@hub.example'], stopped = never, account = '') {
  const url = `smtp://${account}127.0.0.1:${(server.address() as AddressInfo).port}`;
  sender = new EmailSender({ url, from: 'hub@hub.example' }, attemptMs);
  return sender.send(to, message, stopped);
}

it('sends a message', async () => {
  answerMs = 0;
  expect(await send(20_000)).toMatchObject({ delivered: true, status: 250, error: undefined });
});

it('names the recipients that the mail server refused', async () => {
  answerMs = 0;
  expect(await send(20_000, ['shift@hub.example', 'left@hub.example'])).toMatchObject({
    delivered: true,
    status: 250,
    response: '250 ok. Refused: left@hub.example',
  });
  expect(await send(20_000, ['left@hub.example'])).toMatchObject({
    delivered: false,
    error: expect.stringContaining('550 no such user'),
  });
});

it.each(['hub:100%25@', 'hub:100%@'])('hides the password of %s in what the mail server says', async (account) => {
  answerMs = 0;
  expect(await send(20_000, ['left@hub.example'], never, account)).toMatchObject({
    delivered: false,
    error: expect.stringContaining('550 no such user, load ***'),
  });
});

it('ends an attempt whose steps together take too long, and closes the connection', async () => {
  answerMs = 300;
  expect(await send(600)).toMatchObject({ delivered: false, error: 'Not sent within 0.6 s.' });
  await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true]);
});

it('breaks an attempt off when the worker stops, and closes the connection', async () => {
  answerMs = 10_000;
  const stopping = new AbortController();
  const sent = expect(send(20_000, undefined, stopping.signal)).rejects.toThrow('stopping');
  await expect.poll(() => sockets.length).toBe(1);
  stopping.abort(new Error('stopping'));
  await sent;
  await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true]);
});
