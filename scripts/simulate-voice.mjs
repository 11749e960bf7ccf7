/** `npm run simulate:voice`: builds what changed, then becomes the simulated voice server. */
import { build } from './build.mjs';

build();
await import('../apps/simulator/dist/voice-server/main.js');
