/** `npm run simulate`: builds what changed, then becomes the simulator. One process, so that Ctrl-C and kill reach the fleet itself. */
import { build } from './build.mjs';

build();
await import('../apps/simulator/dist/main.js');
