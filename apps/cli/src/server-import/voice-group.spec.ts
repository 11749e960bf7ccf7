import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { DeviceGroupDocument, DeviceGroupsDocument, UpdateDeviceGroupDocument } from '../generated/operations.js';
import { setVoiceServer, voiceGroup, voiceUrlOf } from './voice-group.js';

describe('the voice server of imported boards', () => {
  it('has the addresses of the former server, separated as the hub wants them', () => {
    expect(voiceUrlOf('ws://a.example:8000/xiaozhi/v1/; wss://b.example/v1/')).toBe(
      'ws://a.example:8000/xiaozhi/v1/,wss://b.example/v1/',
    );
  });

  it.each(['old.example:8000', 'http://old.example/', 'null', ''])('is not %s', (written) => {
    expect(() => voiceUrlOf(written)).toThrow('--voice-url');
  });
});

describe('the group of imported boards', () => {
  it('keeps an edit that a person makes at the same time: its update names the revision that it read', async () => {
    const group = { id: 'g', name: voiceGroup, filter: { tags: ['moved'] }, timeZone: 'Asia/Shanghai', revision: 'r1' };
    const refusal = { code: 'CONFLICT', message: 'It was changed meanwhile.', path: ['expectedRevision'] };
    const answers = new Map<unknown, unknown>([
      [DeviceGroupsDocument, { deviceGroups: { nodes: [group], pageInfo: { hasNextPage: false, endCursor: null } } }],
      [DeviceGroupDocument, { deviceGroup: group }],
      [UpdateDeviceGroupDocument, { updateDeviceGroup: { deviceGroup: null, userErrors: [refusal] } }],
    ]);
    const asked: unknown[] = [];
    const request = async (document: unknown, variables: unknown) => {
      if (document === UpdateDeviceGroupDocument) asked.push(variables);
      return answers.get(document);
    };
    const client = { request } as unknown as FlotillaClient;
    await expect(setVoiceServer(client, 'ws://a.example/')).rejects.toThrow('changed meanwhile');
    const { filter, id, name, revision, timeZone } = group;
    expect(asked).toEqual([{ id, revision, input: { name, filter, timeZone, voiceUrl: 'ws://a.example/' } }]);
  });
});
