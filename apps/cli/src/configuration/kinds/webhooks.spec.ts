import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { readLive } from '../hub-state.js';
import { webhooks } from './webhooks.js';

const url = 'https://example.com/hook';
const webhook = (id: string, type: string) => ({ id, url, revision: id, types: [type], enabled: true });
const page = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };

describe('webhooks with one address', () => {
  it('count as the newest of them', async () => {
    const answer = {
      // In the order of the hub.
      webhooks: [webhook('1', 'job.*'), webhook('2', 'device.*')],
      deviceGroups: page,
      firmwareImages: page,
      notificationChannels: [],
    };
    const client = { request: () => Promise.resolve(answer) } as unknown as FlotillaClient;
    const live = await readLive([webhooks], client);
    expect(live.get('Webhook')?.get(url)).toMatchObject({ id: '2', fields: { types: ['device.*'] } });
  });
});
