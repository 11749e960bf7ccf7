/** The messages between the hub and a device, while this tab is open and for at most 15 minutes. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Alert, Button, Group, TextInput } from '@mantine/core';
import { IconDownload, IconPlayerPause, IconPlayerPlay, IconPlayerStop, IconTerminal2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { type CombinedError, useSubscription } from 'urql';
import { once } from '../../../hub/hub-client';
import { ActButton } from '../../../parts/act-button';
import { Empty } from '../../../parts/empty';
import { LoadFailure } from '../../../parts/failure';
import { Time } from '../../../parts/time/time';
import { DeviceSessionLogDocument } from './generated/log';
import { asJsonLines, type LogEntry, type LogLine, matchingLines, withEntries } from './log-lines';
import { LogList } from './log-list';
import classes from './log.module.css';

/** Ms that messages are gathered before the list is drawn again. */
const gatherMs = 250;

export function SessionLog({ deviceId }: { readonly deviceId: string }) {
  const { t } = useTranslation();
  // One state, because a log that ends while it is paused must show what the pause held back.
  const [run, setRun] = useState<'ended' | 'going' | 'paused'>('ended');
  const [isOpen, isPaused] = [run !== 'ended', run === 'paused'];
  const [search, setSearch] = useState('');
  const open = () => setRun('going');
  const end = useCallback(() => setRun('ended'), []);
  const log = useLog(deviceId, isOpen, isPaused, end);
  const { lines, error } = log;
  const shown = useMemo(() => matchingLines(lines, search), [lines, search]);
  if (!isOpen && lines.length === 0 && !error)
    return (
      <Empty
        icon={IconTerminal2}
        title={t('device.log.title')}
        action={<Button onClick={open}>{t('device.log.open')}</Button>}
      >
        {t('device.log.hint')}
      </Empty>
    );
  return (
    <div className={classes.log}>
      <Group gap="sm">
        {isOpen ? (
          <>
            <ActButton
              icon={isPaused ? IconPlayerPlay : IconPlayerPause}
              onClick={() => setRun(isPaused ? 'going' : 'paused')}
            >
              {t(isPaused ? 'events.resume' : 'events.pause')}
            </ActButton>
            <ActButton icon={IconPlayerStop} onClick={end}>
              {t('device.log.close')}
            </ActButton>
          </>
        ) : (
          <Button onClick={open}>{t('device.log.open')}</Button>
        )}
        <ActButton icon={IconDownload} disabled={lines.length === 0} onClick={() => saveLines(lines, deviceId)}>
          {t('device.log.download')}
        </ActButton>
        <TextInput
          flex={1}
          miw={160}
          type="search"
          aria-label={t('device.log.search')}
          placeholder={t('device.log.search')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </Group>
      <Status isOpen={isOpen} isPaused={isPaused} log={log} />
      {error && <LoadFailure error={error} />}
      <LogList lines={shown} isAtEnd={!isPaused} />
      <Alert color="accent">{t('device.log.audited')}</Alert>
    </div>
  );
}

interface StatusProps {
  readonly isOpen: boolean;
  readonly isPaused: boolean;
  readonly log: Log;
}

function Status({ isOpen, isPaused, log: { lines, waiting, endsAt } }: StatusProps) {
  const { t } = useTranslation();
  return (
    <p className="soft" role="status">
      {isOpen && endsAt !== undefined && (
        <>
          {t('device.log.endsAt')} <Time at={new Date(endsAt).toISOString()} form="full" />{' '}
        </>
      )}
      {!isOpen && lines.length > 0 && t('device.log.ended')} {isPaused && t('events.heldBack', { count: waiting })}
    </p>
  );
}

interface Log {
  readonly lines: readonly LogLine[];
  /** Messages that a pause holds back. */
  readonly waiting: number;
  /** By the clock of this browser. */
  readonly endsAt: number | undefined;
  readonly error: CombinedError | undefined;
}

function useLog(deviceId: string, isOpen: boolean, isPaused: boolean, onEnd: () => void): Log {
  const arrived = useRef<LogEntry[]>([]);
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [waiting, setWaiting] = useState(0);
  const variables = useMemo(() => ({ deviceId }), [deviceId]);
  const [{ data: endsAt, error }] = useSubscription(
    { query: DeviceSessionLogDocument, variables, pause: !isOpen, context: once },
    (former: number | undefined, { sessionLog }): number => {
      arrived.current.push(sessionLog);
      const { at, kind, text } = sessionLog;
      return kind === 'STARTED' ? Date.now() + Date.parse(text) - Date.parse(at) : (former ?? Date.now());
    },
  );
  useEffect(() => {
    const timer = setInterval(() => {
      setWaiting(arrived.current.length);
      if (isPaused || arrived.current.length === 0) return;
      const entries = arrived.current;
      arrived.current = [];
      setLines((kept) => withEntries(kept, entries));
    }, gatherMs);
    return () => clearInterval(timer);
  }, [isPaused]);
  const failed = error !== undefined;
  // The end of the subscription takes its error away.
  const [failure, setFailure] = useState<CombinedError>();
  useEffect(() => {
    if (isOpen) setFailure(error);
  }, [isOpen, error]);
  useEffect(() => {
    if (failed) onEnd();
    const left = endsAt === undefined ? 0 : endsAt - Date.now();
    if (!isOpen || failed || left <= 0) return undefined;
    const timer = setTimeout(onEnd, left);
    return () => clearTimeout(timer);
  }, [isOpen, endsAt, failed, onEnd]);
  return { lines, waiting, endsAt, error: failure };
}

function saveLines(lines: readonly LogLine[], deviceId: string): void {
  const url = URL.createObjectURL(new Blob([asJsonLines(lines)], { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${deviceId.replaceAll(/[^\w-]/g, '-')}.jsonl`;
  link.click();
  URL.revokeObjectURL(url);
}
