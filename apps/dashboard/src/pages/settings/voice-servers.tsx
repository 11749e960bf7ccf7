/** The voice servers of conversations and their health. Hidden if the fleet has none. */
import { IconCheck, IconCircleDashed, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Badge } from '../../parts/badge';
import { useHubQuery } from '../../hub/use-hub-query';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { VoiceServersDocument, type VoiceServersQuery } from './generated/settings';

type VoiceServer = VoiceServersQuery['voiceServers'][number];

/** Ms. */
const refreshMs = 10_000;

const looks = {
  UNTRIED: { token: 'muted', icon: IconCircleDashed },
  WELL: { token: 'succeeded', icon: IconCheck },
  UNWELL: { token: 'failed', icon: IconX },
} as const;

export function VoiceServers() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: VoiceServersDocument, variables: {}, refreshMs });
  const columns = useColumns();
  if (!error && (data?.voiceServers ?? []).length === 0) return null;
  return (
    <Section title={t('settings.voiceServers')}>
      <p className="soft">{t('settings.voiceServersHint')}</p>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && (
        <DataTable
          label={t('settings.voiceServers')}
          columns={columns}
          rows={data.voiceServers}
          rowKey={({ url }) => url}
          maxHeight="260px"
        />
      )}
      <ErrorHints servers={data?.voiceServers ?? []} />
    </Section>
  );
}

function useColumns(): readonly Column<VoiceServer>[] {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return [
    {
      id: 'url',
      header: t('settings.voiceUrl'),
      width: 220,
      grow: 2,
      cell: ({ url }) => <code title={url}>{url}</code>,
    },
    {
      id: 'state',
      header: t('settings.voiceState'),
      width: 130,
      grow: 0,
      cell: ({ state }) => <State state={state} />,
    },
    { id: 'since', header: t('settings.since'), width: 120, grow: 0, cell: ({ since }) => <Time at={since} /> },
    {
      id: 'conversations',
      header: t('settings.conversations'),
      width: 120,
      grow: 0,
      isNumeric: true,
      cell: ({ conversations }) => number.format(conversations),
    },
    {
      id: 'error',
      header: t('settings.lastError'),
      width: 200,
      grow: 2,
      cell: ({ lastError, lastErrorCode }) =>
        lastError === null ? (
          t('common.none')
        ) : (
          <span title={lastError}>
            {isExplained(lastErrorCode) ? t(`settings.voiceErrors.${lastErrorCode}`) : lastError}
          </span>
        ),
    },
  ];
}

/** Errors that an administrator can correct. The text of the others says everything. */
const explained = ['NOT_BOUND', 'AUTH_FAILED', 'ADDRESS_FORBIDDEN'] as const;

function isExplained(code: VoiceServer['lastErrorCode']): code is (typeof explained)[number] {
  return explained.some((one) => one === code);
}

function ErrorHints({ servers }: { readonly servers: readonly VoiceServer[] }) {
  const { t } = useTranslation();
  return servers.map(
    ({ url, state, lastErrorCode }) =>
      isExplained(lastErrorCode) &&
      // A server is well for other devices where one is not bound.
      (state === 'UNWELL' || lastErrorCode === 'NOT_BOUND') && (
        <p key={url} className="soft">
          {t(`settings.voiceErrorHints.${lastErrorCode}`, { url })}
        </p>
      ),
  );
}

function State({ state }: Pick<VoiceServer, 'state'>) {
  const { t } = useTranslation();
  return <Badge look={looks[state]}>{t(`settings.voiceStates.${state}`)}</Badge>;
}
