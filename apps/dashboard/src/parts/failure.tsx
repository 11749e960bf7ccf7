/** What happened, and what was not done. */
import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { CombinedError } from 'urql';
import type { HubAnswer } from '../hub/use-hub-query';
import type { MutationFailure } from '../hub/mutation-failure';
import { detailsOf, reasonOf, translatedCodeOf } from './failure-reason';
import { HubWords } from './hub-words';
import classes from './notice.module.css';

/** A list or page that could not be read. */
export function LoadFailure({ error, onRetry }: { readonly error: CombinedError; readonly onRetry?: () => void }) {
  const { t } = useTranslation();
  const reason = reasonOf(error);
  return (
    <div className={classes.failure} role="alert">
      <IconAlertTriangle size={18} className={classes.failureIcon} aria-hidden />
      <div className={classes.failureBody}>
        <p className={classes.failureTitle}>{t('failure.title')}</p>
        <p>{t(`failure.${reason}`)}</p>
        {detailsOf(error).map((message) => (
          <p key={message} className="soft">
            {message}
          </p>
        ))}
        {reason === 'badAddress' && <Link to="/">{t('common.backToOverview')}</Link>}
      </div>
      {onRetry && reason !== 'badAddress' && (
        <Button variant="default" size="xs" onClick={onRetry}>
          {t('common.retry')}
        </Button>
      )}
    </div>
  );
}

/** In a panel: its read failed. What the panel shows, if anything, is from an earlier read. */
export function ReadFailure({ read }: { readonly read: Pick<HubAnswer<unknown>, 'data' | 'error' | 'refresh'> }) {
  const { t } = useTranslation();
  if (read.error === undefined) return null;
  return (
    <p className={classes.readFailure} role="alert">
      <IconAlertTriangle size={16} className={classes.failureIcon} aria-hidden />
      <span>{t(read.data === undefined ? 'failure.title' : 'failure.stale')}</span>
      <Button variant="default" size="compact-xs" onClick={read.refresh}>
        {t('common.retry')}
      </Button>
    </p>
  );
}

interface MutationFailureNoticeProps {
  readonly failure: MutationFailure | undefined;
  /** The title if only a part was rejected. */
  readonly refused?: string | undefined;
}

/** A mutation that was rejected, or whose result is unknown. */
export function MutationFailureNotice({ failure, refused }: MutationFailureNoticeProps) {
  const { t } = useTranslation();
  if (!failure) return null;
  const uncertain = failure.codes.length === 0 ? 'actUncertain' : 'actUnfinished';
  const title = failure.isUncertain ? t(`failure.${uncertain}`) : (refused ?? t('failure.actRefused'));
  return (
    <div className={classes.failure} role="alert" data-uncertain={failure.isUncertain || undefined}>
      <IconAlertTriangle size={18} className={classes.failureIcon} aria-hidden />
      <div className={classes.failureBody}>
        <p className={classes.failureTitle}>{title}</p>
        {failure.messages.map((message, index) => {
          const code = failure.codes[index];
          const whole = translatedCodeOf(code);
          return (
            <p key={message}>{whole ? t(`failure.codes.${whole}`) : <HubWords code={code} message={message} />}</p>
          );
        })}
      </div>
    </div>
  );
}
