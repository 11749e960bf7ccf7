/**
 * A device whose tools are those that MCP's conformance suite calls, and one that answers with a
 * picture as forks of the firmware pack it.
 */
import { answerAsFirmware, answerTo, requestIn } from '../devices/firmware.js';
import type { HubProcess } from '../hub/hub-process.js';
import { RawMqttDevice } from '../devices/raw-mqtt-device.js';

/** The id of this device in stories about agents. */
export const cameraId = '02:ca:00:00:00:01';

/** A PNG of one red pixel. */
export const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const image = { type: 'image', data: picture, mimeType: 'image/png' };
const said = (text: string, isError = false) => ({ content: [{ type: 'text', text }], isError });

const results: Readonly<Record<string, unknown>> = {
  test_simple_text: said('This is a simple text response for testing.'),
  test_image_content: { content: [image], isError: false },
  test_audio_content: {
    content: [{ type: 'audio', data: 'UklGRiYAAABXQVZFZm10IBAAAAABAAEA', mimeType: 'audio/wav' }],
    isError: false,
  },
  test_error_handling: said('This tool intentionally returns an error for testing', true),
  'self.camera.show_photo': { content: [{ type: 'image', image: JSON.stringify(image) }], isError: false },
};

const tools = Object.keys(results).map((name) => ({
  name,
  description: `Answers as ${name} does`,
  inputSchema: { type: 'object', properties: {} },
}));

/** It has its session when this resolves, and lists its tools a moment later. */
export function connectEverythingDevice(hub: HubProcess, mac: string): Promise<RawMqttDevice> {
  const answer = (text: string) => {
    const request = requestIn(text);
    return request?.method === 'tools/call'
      ? answerTo(request, results[request.params?.name ?? ''])
      : answerAsFirmware(text, { tools });
  };
  return RawMqttDevice.connect(hub, mac, { answer });
}
