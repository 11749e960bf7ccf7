/** What saving would do now: devices by what would happen to them, and conflicts by name. */
import { useMemo } from 'react';
import { Loader } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { refusalOf } from '../../../hub/mutation-failure';
import { useHubQuery } from '../../../hub/use-hub-query';
import { LoadFailure, MutationFailureNotice } from '../../../parts/failure';
import { PreviewDesiredStateDocument, type PreviewDesiredStateQuery } from '../generated/desired';
import { type DesiredDraft, inputOf, isComplete } from './desired-draft';
import formClasses from '../../new-job/new-job.module.css';
import classes from '../desired.module.css';

/** Ms after the last change before the hub is asked, and between two looks. */
const typingMs = 300;
const refreshMs = 5_000;
/** A name is needed for a preview; an empty one is reported when the operator saves. */
const unnamed = '-';

type Preview = PreviewDesiredStateQuery['previewDesiredState'];

export function usePreview(draft: DesiredDraft, id: string | undefined) {
  const written = JSON.stringify({ ...inputOf(draft), name: draft.name.trim() || unnamed });
  const [settled] = useDebouncedValue(written, typingMs);
  const variables = useMemo(
    () => ({ input: JSON.parse(settled) as ReturnType<typeof inputOf>, id: id ?? null }),
    [settled, id],
  );
  const { data, error, refresh } = useHubQuery({
    query: PreviewDesiredStateDocument,
    variables,
    refreshMs,
    pause: !isComplete(draft),
  });
  return { data: isComplete(draft) ? data?.previewDesiredState : undefined, error, refresh };
}

interface DesiredPreviewProps {
  readonly preview: ReturnType<typeof usePreview>;
  readonly isComplete: boolean;
}

export function DesiredPreview({ preview: { data, error, refresh }, isComplete: isAsked }: DesiredPreviewProps) {
  const { t } = useTranslation();
  if (!isAsked) return <p className="soft">{t('desired.previewLater')}</p>;
  if (error) return <LoadFailure error={error} onRetry={refresh} />;
  if (data === undefined) return <Loader aria-label={t('common.loading')} />;
  if (data.userErrors.length > 0) return <MutationFailureNotice failure={refusalOf(data.userErrors)} />;
  return <Expected preview={data} />;
}

function Expected({ preview }: { readonly preview: Preview }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const { targetCount, conflicts, sample } = preview;
  const figures = [
    ['targets', targetCount],
    ['inSync', preview.inSyncCount],
    ['change', preview.changeCount],
    ['unknown', preview.unknownCount],
    ['unsupported', preview.unsupportedCount],
  ] as const;
  return (
    <div role="status">
      <dl className={classes.figures}>
        {figures.map(([name, count]) => (
          <div key={name}>
            <dt>{t(`desired.previewFigures.${name}`)}</dt>
            <dd>{number.format(count)}</dd>
          </div>
        ))}
      </dl>
      {targetCount === 0 && <p className={formClasses.warning}>{t('desired.previewNone')}</p>}
      {conflicts.length > 0 && (
        <div className={formClasses.warning}>
          <span>{t('desired.previewConflicts')}</span>
          <span className={classes.conflicts}>
            {conflicts.map(({ id, name }) => (
              <Link key={id} to="/desired/$id" params={{ id }}>
                {name}
              </Link>
            ))}
          </span>
        </div>
      )}
      {sample.length > 0 && (
        <p className={classes.samples}>
          <span>{t('desired.previewSample')}</span>
          {sample.map(({ id, name }) => (
            <Link key={id} to="/devices/$id" params={{ id }}>
              {name ?? id}
            </Link>
          ))}
        </p>
      )}
    </div>
  );
}
