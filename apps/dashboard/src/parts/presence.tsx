/** Online or Offline, in words; the dot is full or hollow besides. */
import { useTranslation } from 'react-i18next';
import classes from './badge.module.css';

export function Presence({ presence }: { readonly presence: 'ONLINE' | 'OFFLINE' }) {
  const { t } = useTranslation();
  const isOnline = presence === 'ONLINE';
  return (
    <span className={classes.presence}>
      <span className={classes.dot} data-online={isOnline || undefined} aria-hidden />
      <span className={isOnline ? undefined : classes.offline}>{t(`presence.${presence}`)}</span>
    </span>
  );
}
