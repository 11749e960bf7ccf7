/** Which versions the fleet runs, as a chart of bars. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import classes from './firmware.module.css';
import { FleetVersionsDocument } from './generated/firmware';

/** Ms. */
const refreshMs = 5_000;
/** Versions at first: what a fleet that is kept up to date has. */
const shownAtFirst = 12;
/** The maximum number of versions that the hub returns. */
const toldMax = 100;

export function Versions() {
  const { t, i18n } = useTranslation();
  const read = useHubQuery({ query: FleetVersionsDocument, variables: {}, refreshMs });
  const { data } = read;
  const [isWhole, setWhole] = useState(false);
  const all = data?.fleetSummary.firmwareVersions ?? [];
  const versions = isWhole ? all : all.slice(0, shownAtFirst);
  const most = Math.max(1, ...versions.map(({ deviceCount }) => deviceCount));
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <Section title={t('firmware.versions')}>
      <ReadFailure read={read} />
      {data && versions.length === 0 && <p className="soft">{t('overview.noDevices')}</p>}
      <ul className={classes.versions}>
        {versions.map(({ value, deviceCount }) => (
          <li key={value ?? ''} className={classes.versionLine}>
            {value === null ? (
              <span className="soft">{t('overview.notReported')}</span>
            ) : (
              <Link to="/devices" search={{ firmwareVersion: value }} className="cut">
                {value}
              </Link>
            )}
            <span className={classes.track}>
              <span className={classes.bar} style={{ width: `${(100 * deviceCount) / most}%` }} />
            </span>
            <span className="figures">{number.format(deviceCount)}</span>
          </li>
        ))}
      </ul>
      {isWhole && all.length === toldMax && <p className="soft">{t('firmware.mostVersions', { count: toldMax })}</p>}
      {all.length > shownAtFirst && (
        <Button variant="subtle" size="compact-sm" onClick={() => setWhole(!isWhole)}>
          {isWhole ? t('firmware.fewerVersions') : t('firmware.allVersions', { count: all.length })}
        </Button>
      )}
    </Section>
  );
}
