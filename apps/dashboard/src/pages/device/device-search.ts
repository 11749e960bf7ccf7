/** Which side of a device is looked at, as the address carries it. */
export const deviceTabs = ['tools', 'measurements', 'pictures', 'calls', 'events', 'history', 'pins', 'log'] as const;
export type DeviceTab = (typeof deviceTabs)[number];

interface DeviceTabSearch {
  readonly tab?: DeviceTab;
}

export function parseDeviceTab({ tab }: Readonly<Record<string, unknown>>): DeviceTabSearch {
  const known = deviceTabs.find((name) => name === tab);
  return known === undefined ? {} : { tab: known };
}
