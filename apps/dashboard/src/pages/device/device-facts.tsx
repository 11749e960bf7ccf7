/** Who the device is, at a glance. */
import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Presence } from '../../parts/presence';
import { Time } from '../../parts/time/time';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';

export function DeviceFacts({ device }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const isOnline = device.presence === 'ONLINE';
  return (
    <dl className={classes.facts}>
      <Fact name={t('device.presence')}>
        <Presence presence={device.presence} />
        <div className={classes.note}>
          {isOnline ? t('device.since') : t('device.lastSeen')}{' '}
          <Time at={isOnline ? device.connectedAt : device.lastSeenAt} />
        </div>
      </Fact>
      <Fact name={t('device.model')}>
        {device.model ?? t('common.unknown')}
        <div className={classes.note}>{t(`devices.dialects.${device.dialect}`)}</div>
      </Fact>
      <Fact name={t('device.firmware')}>
        {device.firmwareVersion ?? t('common.unknown')}
        <div className={classes.note}>
          {t('device.toolCount', { count: device.tools.length })}
          {device.toolsStale && <span className={classes.stale}>{t('devices.stale')}</span>}
        </div>
      </Fact>
      <Fact name={t('device.transport')}>
        {device.transport === null ? t('common.unknown') : t(`devices.transports.${device.transport}`)}
        <div className={classes.note}>{t(`device.reachability.${device.reachability}`)}</div>
      </Fact>
      <Fact name={t('device.tags')}>
        {device.tags.length === 0 ? (
          <span className="soft">{t('common.none')}</span>
        ) : (
          <span className={classes.tags}>
            {device.tags.map((tag) => (
              <Link key={tag} to="/devices" search={{ tags: [tag] }} className={classes.tag}>
                {tag}
              </Link>
            ))}
          </span>
        )}
        {device.groups.length > 0 && <Groups names={device.groups.map(({ name }) => name)} />}
      </Fact>
    </dl>
  );
}

/** A device may be in hundreds. */
const groupsShown = 5;

function Groups({ names }: { readonly names: readonly string[] }) {
  const { t } = useTranslation();
  const others = names.slice(groupsShown);
  return (
    <div className={classes.note}>
      {t('device.groups')} {names.slice(0, groupsShown).join(t('mark.listed'))}
      {others.length > 0 && (
        <details>
          <summary>{t('common.more', { count: others.length })}</summary>
          {others.join(t('mark.listed'))}
        </details>
      )}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt className={classes.factName}>{name}</dt>
      <dd className={classes.factValue}>{children}</dd>
    </div>
  );
}
