/** What the desired state sets, where, when, and by which rules. */
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../../parts/disclosure';
import { Json } from '../../parts/json';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { FilterText } from '../devices/filter-text';
import type { DesiredSeenFragment } from './generated/desired';
import { SettingText } from './setting-text';
import { WindowText } from './window-text';
import classes from './desired.module.css';

export function DesiredFacts({ state }: { readonly state: DesiredSeenFragment }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const minutes = number.format(Math.round(state.holdSeconds / 6) / 10);
  return (
    <Section title={t('desired.what')}>
      <dl className={classes.facts}>
        <Line name={t('desired.sets')}>
          <SettingText state={state} />
        </Line>
        <Line name={t('desired.devices')}>
          <FilterText filter={state.devices} />
        </Line>
        <Line name={t('desired.window')}>
          <WindowText window={state.window} />
        </Line>
        <Line name={t('desired.mode')}>{t(`desired.modes.${state.mode}`)}</Line>
        {state.mode === 'ENFORCE' && (
          <Line name={t('desired.onDrift')}>{t(`desired.driftActions.${state.onDrift}`, { minutes })}</Line>
        )}
        <Line name={t('desired.priority')}>{number.format(state.priority)}</Line>
        <Line name={t('desired.pace')}>
          {t('newJob.inFlight', { count: state.maxInFlight })}
          {state.perMinute !== null && t('mark.comma') + t('job.perMinute', { count: state.perMinute })}
        </Line>
        {(state.waves !== null || state.abort !== null) && (
          <Line name={t('desired.rollouts')}>
            <Disclosure title={t('desired.rolloutTerms')}>
              <Json value={{ waves: state.waves, abort: state.abort }} label={t('desired.rolloutTerms')} />
            </Disclosure>
          </Line>
        )}
        <Line name={t('desired.createdBy')}>
          {state.createdBy + t('mark.comma')}
          <Time at={state.createdAt} />
        </Line>
      </dl>
    </Section>
  );
}

function Line({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
