/** `npm start`: sets up what is missing, then becomes the hub. One process, so that Ctrl-C and kill reach the hub itself. */
import { build } from './build.mjs';

build();
await import('../apps/hub/dist/main.js');
