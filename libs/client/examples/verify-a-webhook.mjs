/** Takes webhooks in and believes only what the hub signed: `FLOTILLA_WEBHOOK_SECRET=… node verify-a-webhook.mjs [port]`. */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { FlotillaError, verifyWebhook } from '@flotilla/client';

const secret = process.env['FLOTILLA_WEBHOOK_SECRET'] ?? '';
const [port = '0'] = process.argv.slice(2);

const server = createServer(async (request, response) => {
  // The signature is over the bytes: they are kept as they came until it is checked.
  const body = new Uint8Array(await buffer(request));
  try {
    const event = await verifyWebhook(secret, request.headers['flotilla-signature']?.toString(), body);
    console.log(`${event.id} ${event.type} ${event.deviceId ?? ''}`);
    // At once, before any work: what is not answered in time comes again. The event's id tells whether it was there before.
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(error instanceof FlotillaError ? error.message : 'This is no webhook of Flotilla.');
  }
});

server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
});
