/**
 * Follows a job to its end: `node follow-a-job.mjs <job>`. Node before 22 has no WebSocket and uses
 * `ws`.
 */
import { FlotillaClient } from '@flotilla/client';
import { WebSocket } from 'ws';

const { FLOTILLA_URL: url = 'http://127.0.0.1:8080', FLOTILLA_KEY: apiKey = '' } = process.env;
const [jobId = ''] = process.argv.slice(2);
const flotilla = new FlotillaClient({ url, apiKey, webSocket: WebSocket });

for await (const { state, conclusion, progress } of flotilla.followJob(jobId)) {
  const decided = progress.total - progress.pending - progress.waitingDevice - progress.inFlight - progress.verifying;
  console.log(`${conclusion ?? state}: ${decided} of ${progress.total} decided, ${progress.succeeded} succeeded`);
}
