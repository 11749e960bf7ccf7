/** Notification channels, by name. Addresses of chats have tokens, so they are secrets, too. */
import { expectAccepted } from '@flotilla/client';
import type { NotificationChannelInput } from '@flotilla/client/schema';
import {
  ConfiguredChannelsDocument,
  CreateNotificationChannelDocument,
  DeleteNotificationChannelDocument,
  UpdateNotificationChannelDocument,
} from '../../generated/operations.js';
import { isFields, type Fields, type Kind } from '../kind.js';
import { MASK, mapped } from '../values.js';

const secret = {
  type: 'object',
  properties: { fromEnv: { type: 'string' } },
  required: ['fromEnv'],
  additionalProperties: false,
  description: 'a secret: name an environment variable, `{ fromEnv: NAME }`',
} as const;

const inputOf = (name: string, fields: Fields) => ({ ...fields, name }) as unknown as NotificationChannelInput;

export const notificationChannels: Kind = {
  kind: 'NotificationChannel',
  nameIs: 'name of the channel',
  fields: {
    kind: { enum: ['EMAIL', 'SLACK', 'TELEGRAM', 'DINGTALK', 'FEISHU', 'WECOM', 'WEBHOOK'] },
    config: {
      type: 'object',
      description: 'The config of a NotificationChannelInput of the API.',
      additionalProperties: false,
      properties: {
        to: { type: 'array', items: { type: 'string' }, minItems: 1 },
        chatId: { type: 'string' },
        url: secret,
        secret,
        token: secret,
      },
    },
    enabled: { type: 'boolean' },
  },
  required: ['kind', 'config'],
  defaults: { enabled: true },
  async read({ client }) {
    const { notificationChannels: channels } = await client.request(ConfiguredChannelsDocument);
    return channels.map(({ id, name, revision, kind, config, enabled }) => ({
      id,
      name,
      revision,
      fields: { kind, config: withMasks(config), enabled },
    }));
  },
  async create(name, fields, { client }) {
    const input = inputOf(name, fields);
    expectAccepted((await client.request(CreateNotificationChannelDocument, { input })).createNotificationChannel);
  },
  async update({ id, name, revision }, fields, { client }) {
    const variables = { id, input: inputOf(name, fields), revision: String(revision) };
    expectAccepted((await client.request(UpdateNotificationChannelDocument, variables)).updateNotificationChannel);
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(DeleteNotificationChannelDocument, { id })).deleteNotificationChannel);
  },
};

/** The hub shows the origin of an address, `https://example.com/***`. */
function withMasks(config: unknown): unknown {
  if (!isFields(config)) return config;
  return mapped(config, (value) => (typeof value === 'string' && value.endsWith(`/${MASK}`) ? MASK : value));
}
