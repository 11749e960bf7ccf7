/** `npm run simulate:voice`: builds what changed, then becomes the simulated voice server. */
import { build } from './build.mjs';

await build('product');
await import('../apps/simulator/dist/program/voice-server.js');
