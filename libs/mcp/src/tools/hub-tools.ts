/**
 * The tools that the hub adds to every xiaozhi device. They are listed and called like announced
 * tools, but are not part of the tool set. If a device announces the same name, the hub tool takes
 * precedence.
 */
import type { DialectName } from '../dialects.js';
import type { DeviceTool } from './tool.js';

/** The dialect of devices that have hub tools, as the registry names it. */
export const hubToolDialect: DialectName = 'XIAOZHI';

/**
 * UTF-16 code units. With all three texts at their limits the message has about 2 KB; devices
 * buffer it on a small heap. [xiaozhi §1.7]
 */
const statusLengthMax = 64;
const messageLengthMax = 500;
const emotionLengthMax = 32;

export const alertTool: DeviceTool = {
  name: 'hub.alert',
  description:
    'Shows a banner on the device and makes it vibrate or beep. ' +
    'Succeeds when the device has answered a request that was sent after the banner.',
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
      message: { type: 'string', minLength: 1, maxLength: messageLengthMax, description: 'Text of the banner.' },
      emotion: {
        type: 'string',
        minLength: 1,
        maxLength: emotionLengthMax,
        default: 'neutral',
        description: 'Face of the device, such as neutral, happy or sad. Unknown values are harmless.',
      },
    },
    required: ['message'],
  },
  userOnly: false,
};

export const identifyTool: DeviceTool = {
  name: 'hub.identify',
  description: 'Shows the name and id of the device on its screen, so that a person can find it among others.',
  inputSchema: { type: 'object', properties: {} },
  userOnly: false,
};

/** Sorted by name. */
export const hubTools: readonly DeviceTool[] = [alertTool, identifyTool];

export function findHubTool(name: string): DeviceTool | undefined {
  return hubTools.find((tool) => tool.name === name);
}

/**
 * Reads the three texts of a banner from validated arguments of `hub.alert`; missing ones get the
 * defaults of the schema.
 */
export function alertTexts(args: Readonly<Record<string, unknown>>): {
  readonly status: string;
  readonly message: string;
  readonly emotion: string;
} {
  const { status = 'Notice', message, emotion = 'neutral' } = args;
  return { status: String(status), message: String(message), emotion: String(emotion) };
}

/**
 * Converts a call of a hub tool to what the session sends: `hub.identify` becomes a banner with the
 * device's name.
 */
export function hubCall<Call extends { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }>(
  call: Call,
  device: { readonly id: string; readonly name: string | undefined },
): Call {
  if (call.tool !== identifyTool.name) return call;
  const message = device.name === undefined ? device.id : `${device.name}\n${device.id}`;
  return { ...call, tool: alertTool.name, arguments: { status: 'Flotilla', message, emotion: 'happy' } };
}
