/** The voice server, run as a child process: answers each packet at once with a stamped one. */
import { openEchoServer } from '@flotilla/test/voice/echo-server';
import type { ServerReport } from './messages.js';
import { ArrivalLog, stampedPacket } from './stamped-packet.js';

const server = await openEchoServer();
let log = new ArrivalLog();
server.echo = (packet) => stampedPacket(log.take(packet));

process.on('message', () => {
  const report: ServerReport = { heard: log.summary() };
  log = new ArrivalLog();
  process.send?.(report);
});
process.once('disconnect', () => process.exit());
process.send?.({ url: server.url });
