/** An act for each mutation of firmware, keys, webhooks, alerts and users. */
import { firstDelivery } from '../../hub/webhook-receiver.js';
import { inAnHour, type ActStage, type Acts } from './act-stage.js';
import { by, input } from './mutation-act.js';

const person = { email: 'audited@example.com', role: 'VIEWER', password: 'correct horse battery' };

export function hubActs({ hub, receiverUrl, known }: ActStage): Acts {
  const of = (name: string) => () => known[name] ?? '';
  const channel = (name: string) => ({ name, kind: 'WEBHOOK', config: { url: receiverUrl, secret: 'of the channel' } });
  const alertRule = (name: string) => ({ name, kind: 'JOB_STOPPED', channelIds: [known['channel']] });
  return {
    addFirmwareSigningKey: [
      () =>
        input(
          'FirmwareSigningKeyInput',
          { name: 'audited', publicKey: Buffer.from('a key of 32 bytes for this story').toString('base64') },
          { select: 'firmwareSigningKey { id }', keep: ['signingKey', 'firmwareSigningKey.id'] },
        ),
    ],
    removeFirmwareSigningKey: [by('id', of('signingKey'))],
    publishFirmwareImage: [
      () => ({ args: '(id: $id, models: ["audited"])', variables: { 'id: ID!': known['image'] } }),
    ],
    withdrawFirmwareImage: [by('id', of('image'))],
    deleteFirmwareImage: [by('id', of('image'))],
    createApiKey: [
      () =>
        input(
          'CreateApiKeyInput',
          { name: 'second', scopes: ['JOBS_WRITE', 'TOOLS_CALL', 'TOOLS_CALL_PRIVILEGED'] },
          { select: 'secret apiKey { id }', keep: ['key', 'apiKey.id'] },
        ),
    ],
    revokeApiKey: [by('id', of('key'))],
    createWebhook: [
      () =>
        input(
          'WebhookInput',
          { url: receiverUrl, types: ['*'] },
          { select: 'webhook { id }', keep: ['webhook', 'webhook.id'] },
        ),
    ],
    updateWebhook: [
      () => ({
        args: '(id: $id, input: $input)',
        variables: { 'id: ID!': known['webhook'], 'input: WebhookInput!': { url: receiverUrl, types: ['*'] } },
      }),
    ],
    redeliverWebhook: [async () => by('deliveryId', await firstDelivery(hub))()],
    testWebhook: [by('id', of('webhook'))],
    deleteWebhook: [by('id', of('webhook'))],
    recordAppliedConfiguration: [
      () => ({
        args: '(input: $input)',
        variables: { 'input: [AppliedConfigurationInput!]!': [{ kind: 'DeviceGroup', name: 'audited', fields: {} }] },
      }),
    ],
    createNotificationChannel: [
      () =>
        input('NotificationChannelInput', channel('Audited'), {
          select: 'notificationChannel { id }',
          keep: ['channel', 'notificationChannel.id'],
        }),
    ],
    updateNotificationChannel: [
      () => ({
        args: '(id: $id, input: $input)',
        variables: { 'id: ID!': known['channel'], 'input: NotificationChannelInput!': channel('Audited too') },
      }),
    ],
    testNotificationChannel: [by('id', of('channel'))],
    createAlertRule: [
      () =>
        input('AlertRuleInput', alertRule('Audited'), {
          select: 'alertRule { id }',
          keep: ['alertRule', 'alertRule.id'],
        }),
    ],
    updateAlertRule: [
      () => ({
        args: '(id: $id, input: $input)',
        variables: { 'id: ID!': known['alertRule'], 'input: AlertRuleInput!': alertRule('Audited too') },
      }),
    ],
    snoozeAlertRule: [
      () => ({
        args: '(id: $id, until: $until)',
        variables: { 'id: ID!': known['alertRule'], 'until: DateTime!': inAnHour },
      }),
    ],
    deleteAlertRule: [by('id', of('alertRule'))],
    deleteNotificationChannel: [by('id', of('channel'))],
    createUser: [
      () => input('UserInput', { name: 'audited', ...person }, { select: 'user { id }', keep: ['user', 'user.id'] }),
    ],
    updateUser: [
      () => ({
        args: '(id: $id, input: $input)',
        variables: { 'id: ID!': known['user'], 'input: UserInput!': { name: 'audited too', role: 'OPERATOR' } },
      }),
    ],
    signOutUser: [by('id', of('user'))],
    deleteUser: [by('id', of('user'))],
  };
}
