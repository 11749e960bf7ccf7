/** What acts are made on, and what one act gives for the next. */
import type { HubProcess } from '../../hub/hub-process.js';
import type { Act } from './mutation-act.js';

export interface ActStage {
  readonly hub: HubProcess;
  /** Where webhooks and channels send to. */
  readonly receiverUrl: string;
  /** Ids and other things that one mutation gives for the next. */
  readonly known: Record<string, string>;
}

/** By mutation, in the order in which they are made. */
export type Acts = Readonly<Record<string, readonly (() => Act | Promise<Act>)[]>>;

/** A device that never connects. */
export const AWAY = '02:00:00:00:aa:01';
export const screen = '02:00:01:00:00:00';
export const second = '02:00:01:00:00:01';
/** Its restart must not be in the way of the other two. */
export const restarting = '02:00:01:00:00:02';
export const volume = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 3 } };
export const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
