/**
 * Lists online devices page by page: `node list-devices.mjs`, with FLOTILLA_URL and FLOTILLA_KEY.
 */
import { FlotillaClient } from '@flotilla/client';

const { FLOTILLA_URL: url = 'http://127.0.0.1:8080', FLOTILLA_KEY: apiKey = '' } = process.env;
const flotilla = new FlotillaClient({ url, apiKey });

for await (const device of flotilla.devices({ filter: { presence: 'ONLINE' } })) {
  console.log(`${device.id}\t${device.model ?? '?'}\t${device.firmwareVersion ?? '?'}\t${device.name ?? ''}`);
}
