/** When the device was there, and how its tools have changed. */
import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { badgeColours } from '../../parts/badge';
import { useHubQuery } from '../../hub/use-hub-query';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { ScrollTable } from '../../parts/table/scroll-table';
import { Time } from '../../parts/time/time';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';
import { DeviceHistoryDocument, type DeviceHistoryQuery } from './generated/device';
import { presenceNow, presenceStart } from './presence-start';

type Past = NonNullable<DeviceHistoryQuery['device']>;
type Session = Past['sessions'][number];

const hours = 24;
const hourMs = 3_600_000;
/** As asked for. */
const sessionsAsked = 100;
/** Sessions in the table; the line shows all that were asked for. */
const sessionsShown = 20;

export function DeviceHistory({ device }: { readonly device: DeviceSeen }) {
  const { data, error, refresh } = useHubQuery({
    query: DeviceHistoryDocument,
    variables: { id: device.id },
    refreshMs: 15_000,
  });
  const past = data?.device;
  return (
    <div className={classes.history}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {past && (
        <>
          <PresenceLine sessions={past.sessions} toolSets={past.toolSetHistory} />
          <Sessions sessions={past.sessions.slice(0, sessionsShown)} />
          <ToolSets sets={past.toolSetHistory} />
        </>
      )}
    </div>
  );
}

interface PresenceLineProps {
  readonly sessions: readonly Session[];
  readonly toolSets: Past['toolSetHistory'];
}

function PresenceLine({ sessions, toolSets }: PresenceLineProps) {
  const { t, i18n } = useTranslation();
  // The polls of the page draw it again, so that it moves on.
  const now = presenceNow(Date.now(), sessions);
  const start = presenceStart({
    now,
    hours,
    connectedAt: sessions.map(({ connectedAt }) => Date.parse(connectedAt)),
    // A device that reconnects often has more sessions than requested.
    hasMore: sessions.length === sessionsAsked,
    toolsSeenAt: toolSets.map(({ firstSeenAt }) => Date.parse(firstSeenAt)),
  });
  const spans = sessions
    .map(
      ({ connectedAt, disconnectedAt }) =>
        [Date.parse(connectedAt), disconnectedAt === null ? now : Date.parse(disconnectedAt)] as const,
    )
    .filter(([, to]) => to > start)
    .map(([from, to]) => [Math.max(from, start), Math.min(to, now)] as const);
  const length = Math.max(1, now - start);
  const share = spans.reduce((sum, [from, to]) => sum + to - from, 0) / length;
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 }).format(share);
  const clock = new Intl.DateTimeFormat(i18n.language, {
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (
    <Section
      title={
        start > now - hours * hourMs
          ? t('device.presenceSince', { time: clock.format(start) })
          : t('device.presenceHistory', { hours })
      }
      actions={<span className="soft figures">{t('device.onlineShare', { percent })}</span>}
    >
      <span className={classes.timeline} role="img" aria-label={t('device.onlineShare', { percent })}>
        {spans.map(([from, to]) => (
          <span
            key={from}
            className={classes.session}
            style={{ left: `${(100 * (from - start)) / length}%`, width: `${(100 * (to - from)) / length}%` }}
          />
        ))}
      </span>
      <div className={classes.timeAxis}>
        <span>{clock.format(start)}</span>
        <span>{t('devices.now')}</span>
      </div>
    </Section>
  );
}

function Sessions({ sessions }: { readonly sessions: readonly Session[] }) {
  const { t } = useTranslation();
  return (
    <Section title={t('device.sessions')}>
      <ScrollTable
        label={t('device.sessions')}
        minWidth={640}
        headers={[
          t('device.connected'),
          t('device.disconnected'),
          t('device.closeReason'),
          t('device.transport'),
          t('device.address'),
          t('device.firmware'),
        ]}
      >
        {sessions.map((session) => (
          <Table.Tr key={`${session.epoch}`}>
            <Table.Td>
              <Time at={session.connectedAt} form="full" />
            </Table.Td>
            <Table.Td>
              {session.disconnectedAt === null ? (
                t('device.stillThere')
              ) : (
                <Time at={session.disconnectedAt} form="full" />
              )}
            </Table.Td>
            <Table.Td>
              {session.closeReason === null
                ? t('common.none')
                : t(`device.closeReasons.${session.closeReason as 'hub_closed'}`, {
                    // A newer hub may have others.
                    defaultValue: session.closeReason,
                  })}
            </Table.Td>
            <Table.Td>{t(`devices.transports.${session.transport}`)}</Table.Td>
            <Table.Td>
              <code>{session.remoteAddress ?? t('common.none')}</code>
            </Table.Td>
            <Table.Td>{session.firmwareVersion ?? t('common.none')}</Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
    </Section>
  );
}

const changes = [
  { kind: 'added', token: 'succeeded' },
  { kind: 'removed', token: 'failed' },
  { kind: 'changed', token: 'running' },
] as const;

function ToolSets({ sets }: { readonly sets: Past['toolSetHistory'] }) {
  const { t } = useTranslation();
  return (
    <Section title={t('device.toolSets')}>
      {sets.length === 0 && <p className="soft">{t('device.noTools')}</p>}
      <ul className={classes.sets}>
        {sets.map((set) => (
          <li key={`${set.hash} ${set.firstSeenAt}`} className={classes.set}>
            <div>
              <Time at={set.firstSeenAt} form="full" />{' '}
              {set.firmwareVersion !== null && (
                <span className="soft">{t('device.withFirmware', { version: set.firmwareVersion })}</span>
              )}{' '}
              <code className="soft">{set.hash.slice(0, 12)}</code>
            </div>
            <div className={classes.diff}>
              {changes.flatMap(({ kind, token }) =>
                set[kind].map((tool) => (
                  <span key={`${kind} ${tool}`} className={classes.change} style={badgeColours(token)}>
                    {t(`device.toolChange.${kind}`)} <code>{tool}</code>
                  </span>
                )),
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
