/** Calls one tool on one device: `node call-a-tool.mjs <device> <tool> [arguments as JSON]`. */
import { FlotillaClient, FlotillaError } from '@flotilla/client';

const { FLOTILLA_URL: url = 'http://127.0.0.1:8080', FLOTILLA_KEY: apiKey = '' } = process.env;
const [deviceId = '', tool = '', given = '{}'] = process.argv.slice(2);
const flotilla = new FlotillaClient({ url, apiKey });

try {
  const { outcome, result, error } = await flotilla.callTool({ deviceId, tool, arguments: JSON.parse(given) });
  // Every outcome of a device is data: only SUCCEEDED means that the tool had its effect.
  console.log(outcome, result?.text ?? error?.message ?? '');
  process.exitCode = outcome === 'SUCCEEDED' ? 0 : 1;
} catch (error) {
  // No call at all: no such device, no scope for it, or no hub.
  if (!(error instanceof FlotillaError)) throw error;
  console.error(error.code, error.message);
  process.exitCode = 1;
}
