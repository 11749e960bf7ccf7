/** Imported first (`node --import`), it makes a hub process speak the messages of 0.1.0. */
import { register } from 'node:module';

register('./replace-messages.mjs', import.meta.url);
