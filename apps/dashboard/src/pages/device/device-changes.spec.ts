import { describe, expect, it } from 'vitest';
import { deviceChanges } from './device-changes';

describe('the changes of a device in a form', () => {
  const former = { name: 'Till', tags: ['lobby', 'demo'], timeZone: null, voiceUrl: 'ws://voice/' };
  const same = { ...former, transport: undefined };

  it('leave out what stayed as it was when the form opened', () => {
    expect(deviceChanges(former, { ...same, name: 'Door' })).toEqual({ name: 'Door' });
    expect(deviceChanges(former, { ...same, tags: ['lobby'] })).toEqual({ tags: ['lobby'] });
    expect(deviceChanges(former, { ...same, transport: 'MQTT' })).toEqual({ transport: 'MQTT' });
  });

  it('need an edit, and remove what was emptied', () => {
    expect(deviceChanges(former, same)).toEqual({});
    expect(deviceChanges(former, { ...same, voiceUrl: null, tags: [] })).toEqual({ voiceUrl: null, tags: [] });
  });
});
