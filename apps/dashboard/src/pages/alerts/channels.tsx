/** The channels of messages, each with a test. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { IconPlus, IconSend } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useIsLimited, useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { Empty } from '../../parts/empty';
import { MutationFailureNotice } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { ChannelDialog } from './channel-dialog';
import {
  type EditedChannelFragment,
  type EditedRuleFragment,
  DeleteNotificationChannelDocument,
  TestNotificationChannelDocument,
  type TestNotificationChannelMutation,
} from './generated/alerts';
import { rulesWithoutChannel } from './rules-without-channel';

interface ChannelsProps {
  readonly channels: readonly EditedChannelFragment[];
  readonly rules: readonly EditedRuleFragment[];
  readonly onChanged: () => void;
}

export function Channels({ channels, rules, onChanged }: ChannelsProps) {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const isLimited = useIsLimited();
  const [edited, setEdited] = useState<EditedChannelFragment | 'new'>();
  return (
    <>
      {isAdmin && (
        <Group>
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
            {t('alerts.channel.add')}
          </Button>
        </Group>
      )}
      {channels.length === 0 && (
        <Empty icon={IconSend} title={t(isLimited ? 'alerts.channel.noneVisibleTitle' : 'alerts.channel.empty')}>
          {t(isLimited ? 'alerts.channel.noneVisible' : 'alerts.channel.emptyHint')}
        </Empty>
      )}
      {channels.map((channel) => (
        <ChannelCard
          key={channel.id}
          channel={channel}
          rules={rules}
          onEdit={() => setEdited(channel)}
          onChanged={onChanged}
        />
      ))}
      {edited && (
        <ChannelDialog
          channel={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={onChanged}
        />
      )}
    </>
  );
}

/** What a test found counts until the channel is changed. */
interface LastTest {
  readonly revision: string;
  readonly result: TestNotificationChannelMutation['testNotificationChannel'] | undefined;
}

function useTest({ id, revision }: EditedChannelFragment) {
  const [last, setLast] = useState<LastTest>();
  const test = useHubMutation(TestNotificationChannelDocument, (data) => data.testNotificationChannel.userErrors);
  const send = async () => {
    setLast(undefined);
    setLast({ revision, result: (await test.run({ id }))?.testNotificationChannel });
  };
  return { test, tested: last?.revision === revision ? last.result : undefined, send };
}

interface ChannelCardProps {
  readonly channel: EditedChannelFragment;
  readonly rules: readonly EditedRuleFragment[];
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

function ChannelCard({ channel, rules, onEdit, onChanged }: ChannelCardProps) {
  const { t, i18n } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const [isLeaving, setLeaving] = useState(false);
  const { test, tested, send } = useTest(channel);
  const remove = useHubMutation(DeleteNotificationChannelDocument, (data) => data.deleteNotificationChannel.userErrors);
  const left = rulesWithoutChannel(rules, channel.id);
  const { config, enabled, failingSince, kind, lastError, name } = channel;
  return (
    <Section
      title={name}
      actions={
        isAdmin && (
          <Group gap="xs">
            <Button size="xs" variant="default" loading={test.isBusy} onClick={() => void send()}>
              {t('alerts.channel.test')}
            </Button>
            <Button size="xs" variant="default" onClick={onEdit}>
              {t('alerts.channel.edit')}
            </Button>
            <Button size="xs" variant="default" onClick={() => setLeaving(true)}>
              {t('alerts.channel.delete')}
            </Button>
          </Group>
        )
      }
    >
      <p className="soft">
        {t(`alerts.channel.kinds.${kind}`)} · {addressOf(config, i18n.language)}
        {!enabled && ` · ${t('alerts.channel.disabled')}`}
      </p>
      {failingSince !== null && (
        <p>
          {t('alerts.channel.failing')} <Time at={failingSince} />
          {t('mark.colon') + (lastError ?? '')}
        </p>
      )}
      <MutationFailureNotice failure={test.failure} />
      <p role="status">
        {tested &&
          t(tested.delivered ? 'alerts.channel.delivered' : 'alerts.channel.notDelivered', {
            answer: [tested.status, tested.response].filter((part) => part !== null && part !== '').join(' '),
          })}
      </p>
      <ConfirmMutation
        mutation={remove}
        variables={isLeaving ? { id: channel.id } : undefined}
        title={t('alerts.channel.deleteTitle')}
        text={
          left.length === 0
            ? t('alerts.channel.deleteText', { name })
            : t('alerts.channel.deleteTextRules', {
                name,
                count: left.length,
                rules: new Intl.ListFormat(i18n.language).format(left),
              })
        }
        act={t('alerts.channel.delete')}
        keep={t('keep.channel')}
        onClose={() => setLeaving(false)}
        onDone={onChanged}
      />
    </Section>
  );
}

/** To whom the messages go: the recipients, the number of a chat, or the host of an address. */
function addressOf(config: unknown, language: string): string {
  const { to, chatId, url } = config as { to?: readonly string[]; chatId?: string; url?: string };
  if (to !== undefined) return new Intl.ListFormat(language).format(to);
  return chatId ?? (url !== undefined && URL.canParse(url) ? new URL(url).host : '');
}
