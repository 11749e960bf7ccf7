/**
 * Keeps the volume of all speakers, also of those that are offline now: `node keep-a-value.mjs
 * <volume>`. Ends when 95 % of the reachable ones have it, and prints the id of the desired state.
 * Node before 22 has no WebSocket and uses `ws`.
 */
import { FlotillaClient } from '@flotilla/client';
import { WebSocket } from 'ws';

const { FLOTILLA_URL: url = 'http://127.0.0.1:8080', FLOTILLA_KEY: apiKey = '' } = process.env;
const [volume = '30'] = process.argv.slice(2);
const flotilla = new FlotillaClient({ url, apiKey, webSocket: WebSocket });

const tool = 'self.audio_speaker.set_volume';
const desired = await flotilla.createDesiredState(
  {
    name: `Volume ${volume}`,
    tool,
    arguments: { volume: Number(volume) },
    devices: { hasTool: tool },
    // A knob that a person turns is left alone for a quarter of an hour.
    onDrift: 'HOLD',
    holdSeconds: 900,
  },
  // Running the script twice creates one desired state.
  { idempotencyKey: `keep-volume-${volume}` },
);
for await (const { summary } of flotilla.followDesiredState(desired.id)) {
  console.error(`${summary.inSync} of ${summary.targeted} in sync, ${summary.waitingDevice} offline`);
  if (summary.t95Seconds !== null) break;
}
flotilla.close();
console.log(desired.id);
