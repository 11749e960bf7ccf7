/** How a story of the web console ends. */
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import type { ConsolePage } from './console-browser.js';
import { type HubProcess, removeDataDir } from '../hub/hub-process.js';

/** What it started; where its beginning failed, some of that is not there. */
export interface ConsoleStory {
  readonly hub: HubProcess | undefined;
  readonly browser: Browser | undefined;
  readonly fleets?: readonly ({ stop(): Promise<unknown> } | undefined)[];
  readonly consoles: readonly (ConsolePage | undefined)[];
}

/** Stops everything regardless of earlier failures, then checks the problems in the browser. */
export async function endConsoleStory({ hub, browser, fleets = [], consoles }: ConsoleStory): Promise<void> {
  await Promise.allSettled([browser?.close(), ...fleets.map(async (fleet) => fleet?.stop())]);
  const exitCode = await hub?.stop();
  if (hub) removeDataDir(hub.dataDir);
  expect(consoles.flatMap((console) => console?.complaints ?? [])).toEqual([]);
  expect(exitCode).toBe(0);
}
