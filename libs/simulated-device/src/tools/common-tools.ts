/**
 * The tools of every board, in the firmware's order, each only if the board has the part. [xiaozhi
 * §5.1]
 */
import type { BoardParts } from '../device-state.js';
import type { SimulatedTool } from '../calls/tool.js';
import { photoExchange } from './camera.js';
import { integer, regularTool, text } from './define-tool.js';

const THEMES: readonly unknown[] = ['light', 'dark'];

const getDeviceStatus = regularTool(
  {
    name: 'self.get_device_status',
    description:
      'Shows how the device is doing: volume, screen, battery, network.\nUse it:\n1. to answer what the device ' +
      'is set to\n2. before a relative change',
  },
  (state, _args, now) => state.status(now),
);

const setVolume = regularTool(
  {
    name: 'self.audio_speaker.set_volume',
    description: 'Sets how loud the speaker is. Ask `self.get_device_status` first when the present volume matters.',
    properties: { volume: integer(0, 100) },
  },
  (state, args) => {
    state.volume = Number(args['volume']);
    return true;
  },
);

const setBrightness = regularTool(
  {
    name: 'self.screen.set_brightness',
    description: 'Sets how bright the screen is lit.',
    properties: { brightness: integer(0, 100) },
  },
  (state, args, now) => {
    state.setBrightness(Number(args['brightness']), now);
    return true;
  },
);

const setTheme = regularTool(
  {
    name: 'self.screen.set_theme',
    description: 'Chooses the look of the screen: `light` or `dark`.',
    properties: { theme: text },
  },
  (state, args) => {
    if (!THEMES.includes(args['theme'])) return false;
    state.theme = String(args['theme']);
    return true;
  },
);

const takePhoto = regularTool(
  {
    name: 'self.camera.take_photo',
    description:
      'Looks through the camera and answers a question about what is there.\nArgs:\n  `question`: what you want ' +
      'to know.\nReturn:\n  JSON with the answer.',
    properties: { question: text },
  },
  (state, args) => {
    if (state.visionUrl === '') return { error: 'Image explain URL or token is not set' };
    return photoExchange(state, String(args['question']));
  },
);

/** The common tools of a board with these parts. */
export function commonTools(parts: BoardParts): SimulatedTool[] {
  return [
    getDeviceStatus,
    setVolume,
    ...(parts.hasBacklight ? [setBrightness] : []),
    ...(parts.hasTheme ? [setTheme] : []),
    ...(parts.hasCamera ? [takePhoto] : []),
  ];
}
