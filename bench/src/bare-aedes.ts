/**
 * The baseline, run as a child process: Aedes on a TCP port. It sends `tools/call` to each device,
 * parses the answer and sends the next one: no sessions, no validation, no records. Do not change
 * this file: ratios must stay comparable.
 */
import { createServer } from 'node:net';
import { Aedes, type Client } from 'aedes';
import type { MeasureRequest } from './bench-messages.js';
import { measure } from './round-trips.js';

const broker = await Aedes.createBroker({ maxClientsIdLength: 256 });
const server = createServer((socket) => {
  socket.setNoDelay(true);
  broker.handle(socket);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const clients: Client[] = [];
let answered = 0;
let running = false;
let nextId = 1;

function push(client: Client): void {
  const call = '"method":"tools/call","params":{"name":"self.audio_speaker.set_volume","arguments":{"volume":42}}';
  const payload = `{"type":"mcp","payload":{"jsonrpc":"2.0","id":${nextId++},${call}}}`;
  client.publish(
    { cmd: 'publish', topic: 'devices/p2p/bench', payload: Buffer.from(payload), qos: 0, retain: false, dup: false },
    () => undefined,
  );
}

broker.on('clientReady', (client) => {
  clients.push(client);
  process.send?.({ connected: clients.length });
});
broker.on('publish', (packet, client) => {
  if (!client) return;
  const answer: unknown = JSON.parse(packet.payload.toString());
  if (typeof answer === 'object' && answer !== null) answered++;
  if (running) push(client);
});

process.on('message', (request: MeasureRequest) => {
  running = true;
  clients.forEach(push);
  void measure(() => answered, request).then((result) => {
    running = false;
    process.send?.({ result });
  });
});
const address = server.address();
process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
