/** One device: who it is, what it can do, what it did. */
import { useEffect, useMemo, useState } from 'react';
import { Tabs } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconCpu, IconPencil, IconRefresh } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSubscription } from 'urql';
import { useScope } from '../../hub/hub';
import type { Scope } from '../../hub/session';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useHubQuery } from '../../hub/use-hub-query';
import { ActButton } from '../../parts/act-button';
import { Empty } from '../../parts/empty';
import { MutationFailureNotice, LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { useNotify } from '../../parts/use-notify';
import { EventTail } from '../events/event-tail';
import { DeviceCalls } from './device-calls';
import { DeviceDesired } from './device-desired';
import { DeviceFacts } from './device-facts';
import { DeviceHistory } from './device-history';
import { DeviceMenu } from './device-menu';
import { DevicePictures } from './device-pictures';
import { DevicePins } from './pins/device-pins';
import { type DeviceTab, deviceTabs } from './device-search';
import { DeviceState } from './device-state';
import { DeviceTools } from './device-tools';
import { DeviceVoiceProblem } from './device-voice-problem';
import classes from './device.module.css';
import { DeviceMeasurements } from './measurements/device-measurements';
import { EditDevice } from './edit-device';
import { SessionLog } from './log/session-log';
import { DeviceDocument, DeviceNewsDocument, type DeviceQuery, RefreshToolsDocument } from './generated/device';

export type DeviceSeen = NonNullable<DeviceQuery['device']>;

const route = getRouteApi('/devices/$id');
/** Ms that news of the device are gathered before it is asked for again. */
const gatherMs = 250;

export function DevicePage() {
  const { id } = route.useParams();
  return <KnownDevice key={id} id={id} />;
}

function KnownDevice({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { data, error, isLoading, refresh } = useHubQuery({
    query: DeviceDocument,
    variables: useMemo(() => ({ id }), [id]),
  });
  const look = useDebouncedCallback(refresh, gatherMs);
  const variables = useMemo(() => ({ filter: { ids: [id] } }), [id]);
  useSubscription({ query: DeviceNewsDocument, variables }, (_seen, news) => {
    look();
    return news;
  });
  const device = data?.device;
  return (
    <Page
      title={device?.name ?? id}
      lead={device?.name && <code>{id}</code>}
      actions={device && <Acts device={device} onDone={refresh} />}
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data?.device === null && !isLoading && (
        <Empty icon={IconCpu} title={t('device.unknown')} action={<Link to="/devices">{t('nav.devices')}</Link>}>
          {t('device.unknownHint', { id })}
        </Empty>
      )}
      {device && <Sides device={device} onCalled={look} />}
    </Page>
  );
}

function Acts({ device, onDone }: { readonly device: DeviceSeen; readonly onDone: () => void }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [isEditing, setEditing] = useState(false);
  const act = useHubMutation(RefreshToolsDocument, (data) => data.refreshTools.userErrors);
  const mayWrite = useScope('DEVICES_WRITE');
  const askForTools = async () => {
    if (!(await act.run({ id: device.id }))) return;
    notify(t('device.toolsRead'));
    onDone();
  };
  return (
    <>
      <MutationFailureNotice failure={act.failure} />
      {mayWrite && (
        <ActButton
          icon={IconRefresh}
          loading={act.isBusy}
          disabled={device.presence === 'OFFLINE'}
          onClick={() => void askForTools()}
        >
          {t('device.readTools')}
        </ActButton>
      )}
      {mayWrite && (
        <ActButton icon={IconPencil} onClick={() => setEditing(true)}>
          {t('device.edit')}
        </ActButton>
      )}
      {mayWrite && <DeviceMenu device={device} />}
      {isEditing && <EditDevice device={device} onClose={() => setEditing(false)} onDone={onDone} />}
    </>
  );
}

const tabScopes: Readonly<Partial<Record<DeviceTab, Scope>>> = { events: 'EVENTS_READ', log: 'ADMIN' };

function Sides({ device, onCalled }: { readonly device: DeviceSeen; readonly onCalled: () => void }) {
  const { t } = useTranslation();
  const { tab = 'tools' } = route.useSearch();
  const navigate = useNavigate({ from: '/devices/$id' });
  const [mayReadEvents, mayReadLog] = [useScope('EVENTS_READ'), useScope('ADMIN')];
  const mayReadJobs = useScope('JOBS_READ');
  const isHidden = { pins: device.pins.length === 0, events: !mayReadEvents, log: !mayReadLog };
  const shown = deviceTabs.filter((name) => !(name in isHidden) || !isHidden[name as keyof typeof isHidden]);
  const current = shown.includes(tab) ? tab : 'tools';
  const scopeMissing = tab === current ? undefined : tabScopes[tab];
  const filter = useMemo(() => ({ deviceId: device.id }), [device.id]);
  useEffect(() => {
    document.querySelector(`[data-tab=${current}]`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <>
      <DeviceFacts device={device} />
      {scopeMissing && (
        <p className="soft">{t('device.tabNeeds', { tab: t(`device.tabs.${tab}`), scope: scopeMissing })}</p>
      )}
      {mayReadEvents && device.dialect === 'XIAOZHI' && <DeviceVoiceProblem id={device.id} />}
      <Tabs
        value={current}
        onChange={(chosen) =>
          void navigate({ search: (now) => ({ ...now, tab: (chosen ?? 'tools') as DeviceTab }), replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List className={classes.tabs ?? ''}>
          {shown.map((name) => (
            <Tabs.Tab key={name} value={name} data-tab={name}>
              {t(`device.tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="tools" className={classes.toolsAndState ?? ''}>
          <DeviceTools device={device} onCalled={onCalled} />
          <div className={classes.tools}>
            {mayReadJobs && <DeviceDesired device={device} />}
            <DeviceState device={device} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="measurements">
          <DeviceMeasurements id={device.id} />
        </Tabs.Panel>
        <Tabs.Panel value="pictures">
          <DevicePictures device={device} />
        </Tabs.Panel>
        <Tabs.Panel value="calls">
          <DeviceCalls deviceId={device.id} />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <EventTail filter={filter} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <DeviceHistory device={device} />
        </Tabs.Panel>
        <Tabs.Panel value="pins">
          <DevicePins device={device} />
        </Tabs.Panel>
        <Tabs.Panel value="log">
          <SessionLog deviceId={device.id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
