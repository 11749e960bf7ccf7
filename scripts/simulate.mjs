/**
 * `npm run simulate`: builds what changed, then becomes the simulator, so that signals reach it.
 */
import { build } from './build.mjs';

await build('product');
await import('../apps/simulator/dist/program/main.js');
