/** Every filter of devices, with what it must choose from a fleet. */

/** A device as DEVICE_FIELDS asks for it. */
export interface DeviceNode {
  readonly id: string;
  readonly name: string | null;
  readonly dialect: string;
  readonly model: string | null;
  readonly firmwareVersion: string | null;
  readonly presence: string;
  readonly transport: string | null;
  readonly lastSeenAt: string | null;
  readonly tags: readonly string[];
  readonly toolsStale: boolean;
  readonly tools: readonly { readonly name: string }[];
}

export const DEVICE_FIELDS =
  'id name dialect model firmwareVersion presence transport lastSeenAt tags toolsStale tools { name }';

export const SET_VOLUME = 'self.audio_speaker.set_volume';

/** What it is about, the filter, and whether it must choose a device. */
export type DeviceFilterCase = [
  what: string,
  filter: () => Readonly<Record<string, unknown>>,
  holds: (device: DeviceNode) => boolean,
];

const hasTool = (name: string) => (device: DeviceNode) => device.tools.some((tool) => tool.name === name);
const dotted = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10) || 0);
const isBefore = (version: string | null, bound: string): boolean => {
  if (version === null) return false;
  const [left, right] = [dotted(version), dotted(bound)];
  const place = left.findIndex((part, index) => part !== right[index]);
  return place === -1 ? left.length < right.length : (left[place] ?? 0) < (right[place] ?? -1);
};
const offline = (device: DeviceNode) => device.presence === 'OFFLINE';

/** `nth`: the devices of the fleet, which are known when the filters run. */
export function deviceFilterCases(nth: (index: number) => DeviceNode): DeviceFilterCase[] {
  return [
    ['all', () => ({ all: true }), () => true],
    ['an empty filter', () => ({}), () => true],
    ['ids', () => ({ ids: [nth(3).id, nth(7).id, 'unknown'] }), (device) => [nth(3).id, nth(7).id].includes(device.id)],
    ['no ids', () => ({ ids: [] }), () => false],
    ['tags', () => ({ tags: ['lab', 'window'] }), ({ tags }) => tags.includes('lab') && tags.includes('window')],
    ['dialect', () => ({ dialect: 'MCPU' }), ({ dialect }) => dialect === 'MCPU'],
    ['model', () => ({ model: nth(5).model }), ({ model }) => model === nth(5).model],
    [
      'firmwareVersion',
      () => ({ firmwareVersion: nth(5).firmwareVersion }),
      (device) => device.firmwareVersion === nth(5).firmwareVersion,
    ],
    ['firmwareBefore', () => ({ firmwareBefore: '2.0' }), ({ firmwareVersion }) => isBefore(firmwareVersion, '2.0')],
    ['presence', () => ({ presence: 'OFFLINE' }), offline],
    ['transport', () => ({ transport: 'WEBSOCKET' }), ({ transport }) => transport === 'WEBSOCKET'],
    ['hasTool', () => ({ hasTool: SET_VOLUME }), hasTool(SET_VOLUME)],
    ['toolsStale', () => ({ toolsStale: false }), ({ toolsStale }) => !toolsStale],
    [
      'lastSeenBefore',
      () => ({ presence: 'OFFLINE', lastSeenBefore: new Date(Date.now() + 60_000).toISOString() }),
      offline,
    ],
    ['search without wildcards', () => ({ search: '100%_' }), ({ name }) => name === 'Zimmer 100%_'],
    ['search in any case', () => ({ search: 'AULA' }), ({ name }) => name === 'aula'],
    [
      'any',
      () => ({ any: [{ presence: 'OFFLINE' }, { tags: ['window'] }] }),
      (device) => offline(device) || device.tags.includes('window'),
    ],
    ['any of none', () => ({ any: [] }), () => false],
    ['not', () => ({ not: { transport: 'MQTT' } }), ({ transport }) => transport !== 'MQTT'],
    [
      'several at once, nested',
      () => ({ tags: ['lab'], any: [{ not: { presence: 'OFFLINE' } }, { not: { not: { search: 'aula' } } }] }),
      (device) => device.tags.includes('lab') && (!offline(device) || device.name === 'aula'),
    ],
  ];
}
