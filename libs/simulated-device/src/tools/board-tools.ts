/** Tools that particular boards add after the common ones. [xiaozhi §5.4] */
import type { SimulatedTool } from '../calls/tool.js';
import { regularTool, text } from './define-tool.js';

const TALK_MODES: readonly unknown[] = ['press_to_talk', 'click_to_talk'];

/** A lamp on a pin, as on the bread-board builds. */
export const lampTools: readonly SimulatedTool[] = [
  regularTool(
    { name: 'self.lamp.get_state', description: 'Says whether the lamp burns' },
    (state) => `{"power": ${state.isLampOn}}`,
  ),
  regularTool({ name: 'self.lamp.turn_on', description: 'Lights the lamp' }, (state) => {
    state.isLampOn = true;
    return true;
  }),
  regularTool({ name: 'self.lamp.turn_off', description: 'Puts the lamp out' }, (state) => {
    state.isLampOn = false;
    return true;
  }),
];

/** Not marked as user-only although it takes the device off the network. */
export const reconfigureWifi = regularTool(
  {
    name: 'self.system.reconfigure_wifi',
    description: 'Ends the conversation and opens the Wi-Fi set-up.\nHave the user confirm it.',
  },
  () => ({ deferred: { kind: 'reconfigureWifi' } }),
);

export const setPressToTalk = regularTool(
  {
    name: 'self.set_press_to_talk',
    description: 'Decides what the button does.\n`mode` is `press_to_talk` or `click_to_talk`.',
    properties: { mode: text },
  },
  (state, args) => {
    if (!TALK_MODES.includes(args['mode'])) return { error: `Invalid mode: ${String(args['mode'])}` };
    state.pressToTalkMode = String(args['mode']);
    return true;
  },
);
