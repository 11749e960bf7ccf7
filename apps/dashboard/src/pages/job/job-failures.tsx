/** What went wrong, grouped by what was said, most frequent first. */
import { useEffect } from 'react';
import { useThrottledCallback } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { HubWords } from '../../parts/hub-words';
import { OutcomeBadge } from '../../parts/outcome/outcome-badge';
import { Section } from '../../parts/page';
import { JobFailuresDocument, JobRerunOfferDocument } from './generated/job';
import classes from './job.module.css';

/** Ms between two questions while failures come in. */
const paceMs = 2_000;
const devicesShown = 3;

interface JobFailuresProps {
  readonly id: string;
  /** How many there are now: another number, another look. */
  readonly bad: number;
  readonly isFinished: boolean;
}

export function JobFailures({ id, bad, isFinished }: JobFailuresProps) {
  const { t } = useTranslation();
  const read = useHubQuery({ query: JobFailuresDocument, variables: { id } });
  const { data, refresh } = read;
  const look = useThrottledCallback(refresh, paceMs);
  useEffect(() => look(), [bad, look]);
  return (
    <Section title={t('job.failures')}>
      <ReadFailure read={read} />
      <ul className={classes.failures}>
        {(data?.job?.failureGroups ?? []).map(({ outcome, code, message, model, count, sampleDeviceIds }) => (
          <li key={`${outcome} ${code ?? ''} ${model ?? ''} ${message}`} className={classes.failure}>
            <span className={classes.failureCount}>{t('job.times', { count })}</span>
            <OutcomeBadge outcome={outcome} />
            <span className={classes.failureText}>
              {code !== null && <code>{code}</code>} <HubWords code={code} message={message} />
              {model !== null && <span className="soft"> {model}</span>}
              <span className={classes.samples}>
                {sampleDeviceIds.slice(0, devicesShown).map((device) => (
                  <Link key={device} to="/devices/$id" params={{ id: device }}>
                    {device}
                  </Link>
                ))}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {isFinished && <LeftOut id={id} />}
    </Section>
  );
}

/** Why "Run again" is for fewer devices than failed, or not offered. */
function LeftOut({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const read = useHubQuery({ query: JobRerunOfferDocument, variables: { id } });
  const offer = read.data?.job?.rerunOffer;
  if (!offer) return <ReadFailure read={read} />;
  if (offer.leftOutCount === 0) return null;
  return (
    <p className="soft">
      {t('job.leftOut', { count: offer.leftOutCount, codes: offer.exceptCodes.join(t('mark.listed')) })}
    </p>
  );
}
