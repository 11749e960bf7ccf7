/**
 * Banners over every page: the live connection is lost, the hub has a newer console, or a part of
 * the page did not load.
 */
import { useEffect, useState } from 'react';
import { Button } from '@mantine/core';
import { IconPlugConnectedX, IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useConnection } from '../hub/hub';
import { hasNewerConsole } from '../hub/newer-console';
import { reloadConsole } from '../hub/reload-console';
import { partLost } from '../parts/lazy-part';
import classes from './shell.module.css';

/** Ms without a connection before the banner appears, so that short reconnects stay silent. */
const toldAfterMs = 1_500;

export function Banners() {
  return (
    <div role="status" className={classes.banners}>
      <ConnectionBanner />
      <VersionBanner />
    </div>
  );
}

function ConnectionBanner() {
  const { t } = useTranslation();
  const { isUp } = useConnection();
  const [isTold, setTold] = useState(false);
  useEffect(() => {
    if (isUp) return undefined;
    const timer = setTimeout(() => setTold(true), toldAfterMs);
    return () => {
      clearTimeout(timer);
      setTold(false);
    };
  }, [isUp]);
  if (!isTold) return null;
  return (
    <div className={classes.banner}>
      <IconPlugConnectedX size={16} aria-hidden />
      {t('app.connectionLost')}
    </div>
  );
}

/**
 * A returning hub may be a newer one, without the former scripts. The viewer decides when to
 * reload, because forms may be half filled in.
 */
function VersionBanner() {
  const { t } = useTranslation();
  const { healed } = useConnection();
  const [isOld, setOld] = useState(false);
  const [isPartLost, setPartLost] = useState(false);
  const [isAway, setAway] = useState(false);
  const reload = async () => setAway(!(await reloadConsole()));
  useEffect(() => {
    const look = () => void hasNewerConsole().then((isNewer) => setOld((known) => known || isNewer));
    const lose = () => {
      setPartLost(true);
      look();
    };
    setAway(false);
    if (healed > 0) look();
    window.addEventListener(partLost, lose);
    return () => window.removeEventListener(partLost, lose);
  }, [healed]);
  if (!isOld && !isPartLost) return null;
  const news = isOld ? 'app.newerConsole' : 'app.partLost';
  return (
    <div className={classes.banner} data-kind="news">
      <IconRefresh size={16} aria-hidden />
      <span className={classes.bannerText}>{t(isAway ? 'failure.unreachable' : news)}</span>
      <Button size="compact-xs" variant="default" onClick={() => void reload()}>
        {t('app.reload')}
      </Button>
    </div>
  );
}
