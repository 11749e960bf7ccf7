/** Which versions the fleet runs, as a chart of bars. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { Section } from '../../parts/page';
import classes from './firmware.module.css';
import { FleetVersionsDocument } from './generated/firmware';

/** Ms. */
const refreshMs = 5_000;
const shown = 12;

export function Versions() {
  const { t, i18n } = useTranslation();
  const { data } = useHubQuery({ query: FleetVersionsDocument, variables: {}, refreshMs });
  const versions = data?.fleetSummary.firmwareVersions.slice(0, shown) ?? [];
  const most = Math.max(1, ...versions.map(({ deviceCount }) => deviceCount));
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <Section title={t('firmware.versions')}>
      {data && versions.length === 0 && <p className="soft">{t('overview.noDevices')}</p>}
      <ul className={classes.versions}>
        {versions.map(({ value, deviceCount }) => (
          <li key={value ?? ''} className={classes.versionLine}>
            {value === null ? (
              <span className="soft">{t('overview.notTold')}</span>
            ) : (
              <Link to="/devices" search={{ firmwareVersion: value }}>
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
    </Section>
  );
}
