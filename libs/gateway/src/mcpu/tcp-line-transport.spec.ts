import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { LineSplitter } from '@flotilla/mcp';
import { describeTransport } from '@flotilla/mcp/transport.suite';
import { realClock } from '../ingress.suite.js';
import { TcpLineTransport } from './tcp-line-transport.js';

/** The number of bytes that may wait for the socket; the messages of the contract are smaller. */
const unsentBytesMax = 64 * 1024;

describeTransport('the TCP transport of microcontrollers', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const board = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await accepted) as [Socket];
  const received: string[] = [];
  const splitter = new LineSplitter(() => undefined);
  board.setEncoding('utf8');
  board.on('data', (text: string) => received.push(...splitter.push(text)));
  board.on('error', () => undefined);
  const near = new TcpLineTransport(socket, {
    clock: realClock,
    unsentBytesMax,
    closingTimeoutMs: 100,
    onOverlong: () => undefined,
    onTraffic: () => undefined,
  });
  return {
    near,
    far: { send: (text) => void board.write(`${text}\r\n`), close: () => void board.end(), received },
    dispose: async () => {
      board.destroy();
      server.close();
      await once(server, 'close');
    },
  };
});
