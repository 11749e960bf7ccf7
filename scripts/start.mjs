/** `npm start`: installs and builds, then becomes the hub, so that signals reach it. */
import { build } from './build.mjs';

await build('product');
await import('../apps/hub/dist/program/main.js');
