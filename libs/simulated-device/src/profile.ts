/**
 * Firmware profiles: board, version and tools of each kind of device. All devices of a profile
 * share one object.
 */
import { compareVersions } from '@flotilla/firmware';
import type { BoardParts } from './device-state.js';
import { ToolList } from './calls/tool-list.js';
import { lampTools, reconfigureWifi, setPressToTalk } from './tools/board-tools.js';
import { commonTools } from './tools/common-tools.js';
import { robotTools } from './tools/robot-tools.js';
import { userTools } from './tools/user-tools.js';

/**
 * How a firmware runs tools and replies: to 2.0.0 in parallel; to 2.0.5 one at a time, with replies
 * at once; from 2.1.0 with replies at the end of the main task's queue. [xiaozhi §4.5, §4.6]
 */
export type FirmwareAge = 'detached' | 'immediate' | 'queued';

/** Of a firmware that was installed over the one that the device came with. */
export function ageOf(version: string): FirmwareAge {
  if (compareVersions(version, '2.1') >= 0) return 'queued';
  return compareVersions(version, '2.0.1') >= 0 ? 'immediate' : 'detached';
}

export const profileNames = ['screen-camera', 'lamp', 'robot', 'old', 'interim'] as const;
export type ProfileName = (typeof profileNames)[number];

export interface DeviceProfile {
  readonly name: ProfileName;
  readonly firmwareVersion: string;
  readonly age: FirmwareAge;
  /** Announced in hello by 2.4 and newer with a screen. */
  readonly takesGlyphs: boolean;
  readonly parts: BoardParts;
  readonly tools: ToolList;
}

const lcd: BoardParts = {
  board: 'lichuang-dev',
  chip: 'esp32s3',
  hasBacklight: true,
  hasTheme: true,
  hasCamera: true,
  hasBattery: true,
  measuresTemperature: true,
  screen: { width: 320, height: 240 },
};

const bare: BoardParts = {
  board: 'bread-compact-wifi',
  chip: 'esp32s3',
  hasBacklight: false,
  hasTheme: false,
  hasCamera: false,
  hasBattery: false,
  measuresTemperature: true,
  screen: { width: 0, height: 0 },
};

const robot: BoardParts = { ...lcd, board: 'otto-robot', screen: { width: 240, height: 240 } };
const box: BoardParts = { ...lcd, board: 'esp-box-3', hasCamera: false, hasBattery: false };

/**
 * The profiles by name. `old` ignores `withUserTools`; `interim` answers `self.reboot` before it
 * restarts.
 */
export const profiles: Readonly<Record<ProfileName, DeviceProfile>> = {
  'screen-camera': {
    name: 'screen-camera',
    firmwareVersion: '2.4.2',
    age: 'queued',
    takesGlyphs: true,
    parts: lcd,
    tools: new ToolList([...commonTools(lcd), reconfigureWifi, setPressToTalk, ...userTools(lcd, true)]),
  },
  lamp: {
    name: 'lamp',
    firmwareVersion: '2.4.2',
    age: 'queued',
    takesGlyphs: false,
    parts: bare,
    tools: new ToolList([...commonTools(bare), ...lampTools, ...userTools(bare, true)]),
  },
  robot: {
    name: 'robot',
    firmwareVersion: '2.3.1',
    age: 'queued',
    takesGlyphs: false,
    parts: robot,
    tools: new ToolList([...commonTools(robot), ...robotTools, ...userTools(robot, true)]),
  },
  old: {
    name: 'old',
    firmwareVersion: '1.8.2',
    age: 'detached',
    takesGlyphs: false,
    parts: bare,
    tools: new ToolList([...commonTools(bare), ...lampTools]),
  },
  interim: {
    name: 'interim',
    firmwareVersion: '2.0.3',
    age: 'immediate',
    takesGlyphs: false,
    parts: box,
    tools: new ToolList([...commonTools(box), setPressToTalk, ...userTools(box, false)]),
  },
};
