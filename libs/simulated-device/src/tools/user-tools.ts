/**
 * The user-only tools, listed only on request but callable by any client of the device. [xiaozhi
 * §5.2]
 */
import type { BoardParts } from '../device-state.js';
import type { SimulatedTool } from '../calls/tool.js';
import { previewExchange, snapshotExchange } from './camera.js';
import { text, userTool } from './define-tool.js';

const getSystemInfo = userTool(
  { name: 'self.get_system_info', description: 'Describes the hardware and the firmware' },
  (state) => state.systemInfo(),
);

const reboot = userTool({ name: 'self.reboot', description: 'Restarts the device' }, () => ({
  deferred: { kind: 'reboot' },
}));

/** The firmware puts the help sentence into the default value, so `url` only looks optional. */
const upgradeFirmware = userTool(
  {
    name: 'self.upgrade_firmware',
    description: 'Fetches a firmware image, installs it and starts it.',
    properties: { url: { type: 'string', default: 'Where the firmware image lies' } },
  },
  (_state, args) => ({ deferred: { kind: 'upgrade', url: String(args['url']) } }),
);

const getScreenInfo = userTool({ name: 'self.screen.get_info', description: 'Size and kind of the screen' }, (state) =>
  JSON.stringify({ ...state.parts.screen, monochrome: false }),
);

const snapshot = userTool(
  {
    name: 'self.screen.snapshot',
    description: 'Sends a picture of the screen to an address',
    properties: { url: text, quality: { type: 'integer', default: 80, minimum: 1, maximum: 100 } },
  },
  (_state, args) => snapshotExchange(String(args['url'])),
);

const previewImage = userTool(
  {
    name: 'self.screen.preview_image',
    description: 'Shows a picture from an address on the screen',
    properties: { url: text },
  },
  (_state, args) => previewExchange(String(args['url'])),
);

const setAssetsUrl = userTool(
  {
    name: 'self.assets.set_download_url',
    description: 'Keeps the address from which the next start loads its assets',
    properties: { url: text },
  },
  (state, args) => {
    state.assetsUrl = String(args['url']);
    return true;
  },
);

/** The user-only tools of firmware 2.0 and newer; the assets tool is always there since 2.3. */
export function userTools(parts: BoardParts, hasAssetsTool: boolean): SimulatedTool[] {
  return [
    getSystemInfo,
    reboot,
    upgradeFirmware,
    ...(parts.hasTheme ? [getScreenInfo, snapshot, previewImage] : []),
    ...(hasAssetsTool ? [setAssetsUrl] : []),
  ];
}
