/** Links to the Devices page with the filter of a group. */
import { useEffect } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../hub/hub';
import { useHubQuery } from '../hub/use-hub-query';
import { ReadFailure } from '../parts/failure';
import { ViewsDocument } from './generated/views';
import classes from './shell.module.css';
import { useChosenViews, viewsAmong, watchGroups } from './views';

/** Ms: other people save groups, too. */
const refreshMs = 60_000;

export function ViewLinks() {
  const { t } = useTranslation();
  const { chosen } = useChosenViews(useViewer().name);
  const read = useHubQuery({ query: ViewsDocument, variables: {}, refreshMs });
  const { data, refresh } = read;
  useEffect(() => watchGroups(refresh), [refresh]);
  const views = viewsAmong(data?.deviceGroups.nodes ?? [], chosen);
  if (views.length === 0) return <ReadFailure read={read} />;
  return (
    <>
      <ReadFailure read={read} />
      <ul className={classes.views} aria-label={t('app.views')}>
        {views.map(({ id, name }) => (
          <li key={id}>
            <Link
              to="/devices"
              search={{ groupId: id }}
              className={`${classes.link} ${classes.view}`}
              activeOptions={{ exact: true, includeSearch: true }}
            >
              <span className="cut">{name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
