/** A DeviceFilter in words, with the names of its groups; as JSON if words would lose a part. */
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../parts/groups/groups';
import { useConditionTexts } from './condition-text';
import { conditionsIn } from './stored-filter';

export function FilterText({ filter }: { readonly filter: unknown }) {
  const { t } = useTranslation();
  const { groups } = useGroups();
  const { textOf } = useConditionTexts(groups);
  const conditions = conditionsIn(filter);
  if (conditions === undefined) return <code>{JSON.stringify(filter)}</code>;
  return textOf(conditions) || t('newJob.wholeFleet');
}
