/**
 * Tools of the hub's own, which every device of the xiaozhi family has: listed and called like what the device announced, but no part of its tool set. A device
 * that announces one of these names does not get its own way: the hub's tool is the one that is listed and called.
 */
import type { DeviceTool } from './tool.js';

/** The family of devices that has them, as the registry names it. */
export const hubToolDialect = 'XIAOZHI';

/** UTF-16 code units. With all three texts in full the message has about 2 KB: devices buffer it whole on a small heap. [xiaozhi §1.7] */
const statusLengthMax = 64;
const messageLengthMax = 500;
const emotionLengthMax = 32;

export const alertTool: DeviceTool = {
  name: 'hub.alert',
  description:
    'Shows a banner on the device and has it vibrate or beep. Succeeds once the device has answered a question that was sent behind it.',
  inputSchema: {
    type: 'object',
    properties: {
      status: {
        type: 'string',
        minLength: 1,
        maxLength: statusLengthMax,
        default: 'Notice',
        description: 'Title of the banner.',
      },
      message: { type: 'string', minLength: 1, maxLength: messageLengthMax, description: 'What it says.' },
      emotion: {
        type: 'string',
        minLength: 1,
        maxLength: emotionLengthMax,
        default: 'neutral',
        description: 'Face of the device, such as neutral, happy or sad; unknown ones are harmless.',
      },
    },
    required: ['message'],
  },
  userOnly: false,
};

export const identifyTool: DeviceTool = {
  name: 'hub.identify',
  description:
    "Shows the device's name and id on its screen, so that somebody who stands before many can tell which one it is.",
  inputSchema: { type: 'object', properties: {} },
  userOnly: false,
};

/** By name. */
export const hubTools: readonly DeviceTool[] = [alertTool, identifyTool];

export function findHubTool(name: string): DeviceTool | undefined {
  return hubTools.find((tool) => tool.name === name);
}

/** The three texts of a banner from the arguments of `hub.alert`, which were checked before; what is not given is what the schema says. */
export function alertTexts(args: Readonly<Record<string, unknown>>): {
  readonly status: string;
  readonly message: string;
  readonly emotion: string;
} {
  const { status = 'Notice', message, emotion = 'neutral' } = args;
  return { status: String(status), message: String(message), emotion: String(emotion) };
}

/** What goes to the session for a call of this tool: `hub.identify` is a banner that says which device it is. */
export function hubCall<Call extends { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }>(
  call: Call,
  device: { readonly id: string; readonly name: string | undefined },
): Call {
  if (call.tool !== identifyTool.name) return call;
  const message = device.name === undefined ? device.id : `${device.name}\n${device.id}`;
  return { ...call, tool: alertTool.name, arguments: { status: 'Flotilla', message, emotion: 'happy' } };
}
