/**
 * The tools of the walking robot. Long descriptions make its list two pages, as on the real board.
 * [xiaozhi §4.4, §5.4]
 */
import type { SimulatedTool, ToolProperty } from '../calls/tool.js';
import { regularTool } from './define-tool.js';

/** Name, Chinese name, what the robot does, and which arguments matter. */
const ACTIONS: readonly (readonly [name: string, chinese: string, meaning: string, uses: string])[] = [
  [
    'walk',
    '行走',
    'walks on two feet; direction 1 goes forward and -1 goes back',
    'steps, speed, direction, arm_swing',
  ],
  [
    'turn',
    '转身',
    'turns on the spot; direction 1 is to the left and -1 is to the right',
    'steps, speed, direction, arm_swing',
  ],
  ['jump', '跳跃', 'jumps up with both feet and lands softly', 'steps, speed'],
  ['swing', '摇摆', 'sways from one side to the other with both feet on the ground', 'steps, speed, amount'],
  ['moonwalk', '太空步', 'glides sideways as if the floor were ice', 'steps, speed, direction, amount'],
  ['bend', '弯曲身体', 'leans the whole body to one side and comes back', 'steps, speed, direction'],
  ['shake_leg', '摇腿', 'stands on one foot and shakes the other', 'steps, speed, direction'],
  ['updown', '上下运动', 'goes up on its toes and down again', 'steps, speed, amount'],
  ['whirlwind_leg', '旋风腿', 'kicks in a half circle; needs a clear table', 'steps, speed, amount'],
  ['sit', '坐下', 'sits down and waits there', 'nothing'],
  ['showcase', '展示动作', 'shows a sequence of everything it can do, which takes about twenty seconds', 'nothing'],
  ['home', '复位', 'brings all joints back to the middle', 'nothing'],
  ['hands_up', '举手', 'raises one arm or both; direction 1 is left, -1 is right, 0 is both', 'speed, direction'],
  ['hands_down', '放手', 'lowers one arm or both; direction 1 is left, -1 is right, 0 is both', 'speed, direction'],
  ['hand_wave', '挥手', 'waves with one arm or both as a greeting', 'direction'],
  ['windmill', '大风车', 'turns the arms like the sails of a windmill', 'steps, speed, amount'],
  ['takeoff', '起飞', 'flaps the arms ever faster as if about to fly', 'steps, speed, amount'],
  ['fitness', '健身', 'does gymnastics with arms and legs', 'steps, speed, amount'],
  ['greeting', '打招呼', 'bows a little and waves', 'steps, direction'],
  ['shy', '害羞', 'looks away and hides its face behind an arm', 'steps, direction'],
  ['radio_calisthenics', '广播体操', 'does the morning exercises from the radio', 'nothing'],
  ['magic_circle', '爱的魔力转圈圈', 'turns in circles to an inner melody', 'nothing'],
];

const ACTION_NAMES: readonly unknown[] = ACTIONS.map(([name]) => name);

const ACTION_DESCRIPTION = [
  'Makes the robot move. Motion goes on after the answer; a new action waits until the last one has ended.',
  'Arguments: steps = how often (1 to 100); speed = milliseconds for one movement, smaller is quicker (100 to ' +
    '3000); direction = -1, 0 or 1;',
  'amount = size of the movement in degrees (0 to 170); arm_swing = how far the arms swing along (0 to 170).',
  'Actions:',
  ...ACTIONS.map(([name, chinese, meaning, uses]) => `- ${name} (${chinese}): ${meaning}. Uses ${uses}.`),
].join('\n');

const SEQUENCE_DESCRIPTION = [
  'Plays a custom sequence of the six robot joints (自定义动作序列), for movements that `self.otto.action` does not have.',
  'Give the sequence as JSON text: {"a":[step,step,...],"d":pause after the sequence in ms}. At most one ' +
    'sequence per call; send the next one when this has been answered.',
  'A step is {"s":{joint:angle,...},"v":ms for this step,"d":pause after this step in ms}. Joints that a step ' +
    'does not name keep their angle.',
  'Joints: ll = left leg (左腿), turns the thigh; rl = right leg (右腿), turns the thigh; lf = left foot (左脚), tips ' +
    'the sole; rf = right foot (右脚), tips the sole;',
  'lh = left hand (左手), raises the arm; rh = right hand (右手), raises the arm. Every angle is 0 to 180, 90 is the ' +
    'middle; boards without arms ignore lh and rh.',
  'A step may oscillate instead: {"osc":{"a":{joint:amplitude},"o":{joint:middle},"ph":{joint:phase in ' +
    'degrees},"p":period in ms,"c":cycles}}.',
  'Amplitudes are 10 to 90, periods 100 to 3000, cycles 0.1 to 20. Phases decide who moves first: equal phases ' +
    'move together, 180 apart moves against each other.',
  'Rules of safety (安全规则):',
  '1. Never tip both soles outwards at once by more than 30 degrees, or the robot falls on its face.',
  '2. Lift a foot only when the weight is on the other one: tip the standing foot first, then turn the leg.',
  '3. Come back to 90 on all joints at the end, otherwise the joints stay under load and grow warm.',
  '4. Steps shorter than 100 ms are stretched to 100 ms because the joints cannot follow.',
  '5. Put at most twenty steps into one sequence; longer dances are several calls, and each of them begins ' +
    'exactly where the one before it has ended.',
  '6. Say beforehand what the robot is going to do when a person stands near (有人靠近时先提醒), and prefer small ' +
    'amplitudes on a table.',
  'Example, a wave with the left arm (左手挥手): ' +
    '{"a":[{"s":{"lh":150},"v":400},{"s":{"lh":110},"v":250},{"s":{"lh":150},"v":250},{"s":{"lh":90},"v":400}],"d":' +
    '100}',
  'Example, a curtsy (行礼): {"a":[{"s":{"ll":110,"rl":70},"v":600,"d":300},{"s":{"ll":90,"rl":90},"v":600}]}',
  'Example, standing on the right foot (右脚站立): ' +
    '{"a":[{"s":{"lf":60,"rf":60},"v":700},{"s":{"lf":90},"v":300,"d":800},{"s":{"lf":90,"rf":90},"v":700}]}',
  'Example, a nod of both feet (点脚): ' +
    '{"a":[{"s":{"lf":70,"rf":110},"v":300},{"s":{"lf":110,"rf":70},"v":300},{"s":{"lf":90,"rf":90},"v":300}],"d":2' +
    '00}',
  'Example, swimming arms (游泳): ' +
    '{"a":[{"osc":{"a":{"lh":50,"rh":50},"o":{"lh":90,"rh":90},"ph":{"lh":0,"rh":180},"p":800,"c":5}}]}',
].join('\n');

const STEPS: ToolProperty = { type: 'integer', default: 3, minimum: 1, maximum: 100 };
const SPEED: ToolProperty = { type: 'integer', default: 700, minimum: 100, maximum: 3000 };
const DIRECTION: ToolProperty = { type: 'integer', default: 1, minimum: -1, maximum: 1 };
const ANGLE = (fallback: number): ToolProperty => ({ type: 'integer', default: fallback, minimum: 0, maximum: 170 });

const action = regularTool(
  {
    name: 'self.otto.action',
    description: ACTION_DESCRIPTION,
    properties: {
      action: { type: 'string', default: 'sit' },
      steps: STEPS,
      speed: SPEED,
      direction: DIRECTION,
      amount: ANGLE(30),
      arm_swing: ANGLE(50),
    },
  },
  (state, args) => {
    if (!ACTION_NAMES.includes(args['action'])) return `错误：无效的动作名称 ${String(args['action'])}`;
    state.lastAction = String(args['action']);
    return true;
  },
);

const playSequence = regularTool(
  {
    name: 'self.otto.servo_sequences',
    description: SEQUENCE_DESCRIPTION,
    properties: { sequence: { type: 'string', default: '{"a":[{"s":{"ll":90,"rl":90},"v":1000}]}' } },
  },
  (state) => {
    state.lastAction = 'servo_sequences';
    return true;
  },
);

const stop = regularTool(
  { name: 'self.otto.stop', description: 'Ends every movement at once and goes back to the middle (立即停止)' },
  (state) => {
    state.lastAction = 'stop';
    return true;
  },
);

const setTrim = regularTool(
  {
    name: 'self.otto.set_trim',
    description:
      'Corrects the middle of one joint for good (校准). servo_type: left_leg, right_leg, left_foot, right_foot, ' +
      'left_hand or right_hand.',
    properties: {
      servo_type: { type: 'string', default: 'left_leg' },
      trim_value: { type: 'integer', default: 0, minimum: -50, maximum: 50 },
    },
  },
  (_state, args) => `${String(args['servo_type'])}: ${String(args['trim_value'])}`,
);

const getTrims = regularTool({ name: 'self.otto.get_trims', description: 'Lists the corrections of all joints' }, () =>
  JSON.stringify({ left_leg: 0, right_leg: 0, left_foot: 0, right_foot: 0, left_hand: 0, right_hand: 0 }),
);

const getStatus = regularTool(
  { name: 'self.otto.get_status', description: 'Says whether the robot moves: `moving` or `idle`' },
  (state) => (state.lastAction === 'stop' ? 'idle' : 'moving'),
);

const getBatteryLevel = regularTool(
  { name: 'self.battery.get_level', description: 'Charge of the battery in percent, and whether it is charging' },
  (state, _args, now) => JSON.stringify(state.chargeAt(now)),
);

const getIp = regularTool({ name: 'self.otto.get_ip', description: 'The address of the robot in its Wi-Fi' }, () =>
  JSON.stringify({ ip: '127.0.0.1', connected: true }),
);

export const robotTools: readonly SimulatedTool[] = [
  action,
  playSequence,
  stop,
  setTrim,
  getTrims,
  getStatus,
  getBatteryLevel,
  getIp,
];
