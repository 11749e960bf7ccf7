/** Devices by what they have in common, most first: each bar leads to those devices. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Section } from '../../parts/page';
import type { FleetNowQuery } from './generated/overview';
import classes from './overview.module.css';

/** Further ones have few devices each; the Devices page finds them. */
const shown = 7;

interface SharesProps {
  readonly title: string;
  readonly condition: 'model' | 'firmwareVersion';
  readonly shares: FleetNowQuery['fleetSummary']['models'] | undefined;
}

export function Shares({ title, condition, shares: known }: SharesProps) {
  const { t, i18n } = useTranslation();
  const shares = known ?? [];
  const most = Math.max(1, ...shares.map(({ deviceCount }) => deviceCount));
  const figures = new Intl.NumberFormat(i18n.language);
  const more = shares.length - shown;
  return (
    <Section title={title} actions={<Key />}>
      {known?.length === 0 && <p className="soft">{t('overview.noDevices')}</p>}
      {shares.slice(0, shown).map(({ value, deviceCount, onlineCount }) => {
        const row = (
          <>
            <span className="cut">{value ?? t('overview.notReported')}</span>
            <span className="figures">
              {t('overview.onlineOf', { online: figures.format(onlineCount), all: figures.format(deviceCount) })}
            </span>
            <span className={classes.track} aria-hidden>
              <span className={classes.bar}>
                <span className={classes.online} style={{ width: `${(onlineCount / most) * 100}%` }} />
                <span className={classes.offline} style={{ width: `${((deviceCount - onlineCount) / most) * 100}%` }} />
              </span>
            </span>
          </>
        );
        return value === null ? (
          <div key="" className={classes.share}>
            {row}
          </div>
        ) : (
          <Link key={value} to="/devices" search={{ [condition]: value }} className={classes.share}>
            {row}
          </Link>
        );
      })}
      {more > 0 && <p className="soft">{t('common.more', { count: more })}</p>}
    </Section>
  );
}

function Key() {
  const { t } = useTranslation();
  return (
    <div className={classes.key} aria-hidden>
      <span>
        <i className={classes.online} />
        {t('presence.ONLINE')}
      </span>
      <span>
        <i className={classes.offline} />
        {t('presence.OFFLINE')}
      </span>
    </div>
  );
}
