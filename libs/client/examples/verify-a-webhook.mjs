/**
 * Receives webhooks and accepts only signed ones: `FLOTILLA_WEBHOOK_SECRET=… node
 * verify-a-webhook.mjs [port]`.
 */
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
    // Answers before any work, because late answers cause another delivery. The event id identifies
    // repeats.
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(error instanceof FlotillaError ? error.message : 'Not a Flotilla webhook.');
  }
});

server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
});
