/** Links to the Devices page with the filter of a group. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../hub/hub';
import { ReadFailure } from '../parts/failure';
import { useGroups } from '../parts/groups/groups';
import classes from './shell.module.css';
import { useChosenViews, viewsAmong } from './views';

export function ViewLinks() {
  const { t } = useTranslation();
  const { chosen } = useChosenViews(useViewer().name);
  const { groups, read } = useGroups();
  const views = viewsAmong(groups, chosen);
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
