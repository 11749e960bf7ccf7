/** The edits of a desired state, latest first, each with what it changed. */
import { useCallback, useEffect } from 'react';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePages } from '../../hub/lists/use-pages';
import { Disclosure } from '../../parts/disclosure';
import { LoadFailure } from '../../parts/failure';
import { Json } from '../../parts/json';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { type Change, changesBetween } from './changes-between';
import { DesiredEditsDocument, type DesiredEditFragment, type DesiredEditsQuery } from './generated/desired';
import classes from './desired.module.css';

interface DesiredHistoryProps {
  readonly id: string;
  /** With another one the edits are read again. */
  readonly generation: number;
}

export function DesiredHistory({ id, generation }: DesiredHistoryProps) {
  const { t } = useTranslation();
  const variables = useCallback((after: string | null) => ({ id, after }), [id]);
  const pages = usePages({ query: DesiredEditsDocument, variables, listOf });
  const { rows: edits, error, refresh } = pages;
  useEffect(() => refresh(), [generation, refresh]);
  return (
    <Section title={t('desired.history')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <ol className={classes.edits}>
        {edits.map((edit, index) => (
          <Edit key={edit.generation} edit={edit} former={edits[index + 1]} />
        ))}
      </ol>
      {pages.hasMore && (
        <Button variant="default" size="xs" loading={pages.isLoading} onClick={pages.loadMore}>
          {t('desired.olderEdits')}
        </Button>
      )}
    </Section>
  );
}

const listOf = ({ desiredState }: DesiredEditsQuery) => desiredState?.editsConnection;

interface EditProps {
  readonly edit: DesiredEditFragment;
  readonly former: DesiredEditFragment | undefined;
}

function Edit({ edit, former }: EditProps) {
  const { t } = useTranslation();
  const { generation, at, by, input } = edit;
  return (
    <li className={classes.edit}>
      <div>
        <strong>{t('desired.generation', { number: generation })}</strong> · {by} · <Time at={at} form="full" />
      </div>
      {former !== undefined && <Changes changes={changesBetween(former.input, input)} />}
      {generation === 1 && <p className="soft">{t('desired.created')}</p>}
      <Disclosure title={t('desired.wholeInput')}>
        <Json value={input} label={t('desired.inputOf', { number: generation })} />
      </Disclosure>
    </li>
  );
}

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  const { t } = useTranslation();
  if (changes.length === 0) return <p className="soft">{t('desired.sameInput')}</p>;
  const text = (value: unknown) => (value === undefined ? t('common.none') : JSON.stringify(value));
  return (
    <ul className={classes.changes}>
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <code>{path}</code>: <del>{text(before)}</del> → <ins>{text(after)}</ins>
        </li>
      ))}
    </ul>
  );
}
