/** Banners over every page: the live connection is lost, or the hub has a newer console. */
import { useEffect, useState } from 'react';
import { Button } from '@mantine/core';
import { IconPlugConnectedX, IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useConnection } from '../hub/hub';
import { hasNewerConsole } from '../hub/newer-console';
import classes from './shell.module.css';

/** Ms without a connection before the banner appears, so that short reconnects stay silent. */
const toldAfterMs = 1_500;

export function Banners() {
  return (
    <div role="status">
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
 * A returning hub may be a newer one. The viewer decides when to reload, because forms may be half
 * filled in.
 */
function VersionBanner() {
  const { t } = useTranslation();
  const { healed } = useConnection();
  const [isOld, setOld] = useState(false);
  useEffect(() => {
    if (healed > 0) void hasNewerConsole().then((isNewer) => setOld((known) => known || isNewer));
  }, [healed]);
  if (!isOld) return null;
  return (
    <div className={classes.banner} data-kind="news">
      <IconRefresh size={16} aria-hidden />
      <span className={classes.bannerText}>{t('app.newerConsole')}</span>
      <Button size="compact-xs" variant="default" onClick={() => location.reload()}>
        {t('app.reload')}
      </Button>
    </div>
  );
}
