/** What happened last, as it happens. */
import { useEffect, useState } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSubscription } from 'urql';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { periodStart } from '../../parts/time/period-start';
import { Time } from '../../parts/time/time';
import { type EventLineFragment, LatestEventsDocument, OverviewNewsDocument } from './generated/overview';
import { latelyMs, latelyStepMs } from './overview-pace';
import classes from './overview.module.css';

const shown = 9;

export function LatestEvents() {
  const { t } = useTranslation();
  const since = periodStart(latelyMs, latelyStepMs);
  const read = useHubQuery({ query: LatestEventsDocument, variables: { since } });
  const { data } = read;
  const [events, setEvents] = useState<readonly EventLineFragment[]>([]);
  useEffect(() => setEvents((seen) => merged(seen, data?.latest.nodes ?? [])), [data]);
  useSubscription({ query: OverviewNewsDocument }, (_seen, news) => {
    setEvents((seen) => merged([news.eventAdded.node], seen));
    return news;
  });
  return (
    <Section title={t('overview.latestEvents')} actions={<Link to="/events">{t('overview.allEvents')}</Link>}>
      <ReadFailure read={read} />
      {data?.latest.nodes.length === 0 && events.length === 0 && <p className="soft">{t('overview.noEvents')}</p>}
      <ul className={classes.list}>
        {events.map(({ id, type, deviceId, at }) => (
          <li key={id} className={classes.line}>
            <code>{type}</code>
            <span className={`${classes.grow} cut`}>
              {deviceId !== null && (
                <Link to="/devices/$id" params={{ id: deviceId }}>
                  {deviceId}
                </Link>
              )}
            </span>
            <span className="soft">
              <Time at={at} form="exact" />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Latest first, each once. Their ids are in the order of time. */
function merged(
  some: readonly EventLineFragment[],
  others: readonly EventLineFragment[],
): readonly EventLineFragment[] {
  const byId = new Map([...some, ...others].map((event) => [event.id, event]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, shown);
}
