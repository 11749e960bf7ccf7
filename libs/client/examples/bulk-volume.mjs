/**
 * Sets the volume of the whole fleet after a preview: `node bulk-volume.mjs <volume>`. Prints the
 * job's id.
 */
import { FlotillaClient } from '@flotilla/client';

const { FLOTILLA_URL: url = 'http://127.0.0.1:8080', FLOTILLA_KEY: apiKey = '' } = process.env;
const [volume = '30'] = process.argv.slice(2);
const flotilla = new FlotillaClient({ url, apiKey });

const tool = 'self.audio_speaker.set_volume';
/** @type {import('@flotilla/client/schema').CreateJobInput} */
const input = {
  tool,
  arguments: { volume: Number(volume) },
  devices: { hasTool: tool },
  // A tenth of the fleet first; the rest follows when 95 % of that went well.
  waves: [{ percent: 10 }, { percent: 100 }],
};

/** @type {{ previewJob: { targetCount: number, onlineCount: number } }} */
const { previewJob } = await flotilla.request(
  'query ($input: CreateJobInput!) { previewJob(input: $input) { targetCount onlineCount } }',
  {
    input,
  },
);
console.error(`${previewJob.targetCount} devices, ${previewJob.onlineCount} of them online`);

// The same key on the same day finds the same job, so running the script twice starts nothing new.
const job = await flotilla.createJob(input, {
  idempotencyKey: `volume-${volume}-${new Date().toISOString().slice(0, 10)}`,
});
console.log(job.id);
