import { describe, expect, it } from 'vitest';
import { type Viewer, viewerId } from './session';

const person = (id: string, name: string, scopes: Viewer['scopes']) =>
  ({ kind: 'USER', name, scopes, devices: null, user: { id } }) as unknown as Viewer;
const key = (devices: unknown, scopes: Viewer['scopes'] = ['DEVICES_READ']) =>
  ({ kind: 'KEY', name: 'ci', scopes, devices, user: null }) as unknown as Viewer;

describe('the id of a viewer', () => {
  it('is the same for a person with another name or role, so that pages keep their input', () => {
    const ada = viewerId(person('1', 'ada', ['DEVICES_READ']));
    expect(viewerId(person('1', 'Ada', ['DEVICES_READ', 'DEVICES_WRITE']))).toBe(ada);
    expect(viewerId(person('2', 'ada', ['DEVICES_READ']))).not.toBe(ada);
  });

  it('is another one, if a key of the same name is limited to other devices or has other scopes', () => {
    expect(viewerId(key({ tags: ['lobby'] }))).toBe(viewerId(key({ tags: ['lobby'] })));
    expect(viewerId(key({ tags: ['lobby'] }))).not.toBe(viewerId(key(null)));
    expect(viewerId(key(null, ['JOBS_READ']))).not.toBe(viewerId(key(null)));
  });
});
