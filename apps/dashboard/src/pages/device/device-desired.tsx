/** The desired states that cover the device: which sets what, and why the value differs. */
import { useEffect, useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ComplianceBadge } from '../../parts/compliance/compliance-badge';
import { ComplianceReason } from '../../parts/compliance/compliance-reason';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { SettingText } from '../desired/setting-text';
import { WindowText } from '../desired/window-text';
import type { DeviceSeen } from './device-page';
import { DeviceDesiredStatesDocument, type DeviceDesiredStatesQuery } from './generated/device';
import classes from './device.module.css';

type Target = NonNullable<DeviceDesiredStatesQuery['device']>['desiredStates'][number];

/** Ms. */
const refreshMs = 3_000;

/** With a newer state of the device the entries are read again. Without an entry it is empty. */
export function DeviceDesired({ device: { id, presence, reportedStateAt } }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const variables = useMemo(() => ({ id }), [id]);
  const { data, error, refresh } = useHubQuery({ query: DeviceDesiredStatesDocument, variables, refreshMs });
  useEffect(() => refresh(), [presence, reportedStateAt, refresh]);
  const targets = data?.device?.desiredStates ?? [];
  if (targets.length === 0 && !error) return null;
  return (
    <Section title={t('device.desired')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <ul className={classes.sets}>
        {targets.map((target) => (
          <li key={target.desiredState.id} className={classes.set}>
            <Entry target={target} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Entry({ target }: { readonly target: Target }) {
  const { t } = useTranslation();
  const { desiredState, state, since, desired, reported, reportedAt } = target;
  const text = (value: unknown) => (value === null ? t('common.unknown') : JSON.stringify(value));
  return (
    <>
      <div className={classes.desiredHead}>
        <Link to="/desired/$id" params={{ id: desiredState.id }}>
          {desiredState.name}
        </Link>
        <ComplianceBadge state={state} />
        <span className="soft">
          {t('device.since')} <Time at={since} />
        </span>
      </div>
      <div className={classes.note}>
        <SettingText state={desiredState} /> · <WindowText window={desiredState.window} />
        {desiredState.priority !== 0 && ` · ${t('device.desiredPriority', { priority: desiredState.priority })}`}
      </div>
      <div className={classes.note}>
        {t('device.desiredValue', { desired: text(desired), reported: text(reported) })}
        {reportedAt !== null && (
          <>
            {t('mark.open')}
            <Time at={reportedAt} />
            {t('mark.close')}
          </>
        )}
      </div>
      <div className={classes.note}>
        <ComplianceReason target={target} />
      </div>
    </>
  );
}
