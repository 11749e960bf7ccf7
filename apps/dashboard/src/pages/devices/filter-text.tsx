/** A DeviceFilter in words, with the names of its groups. */
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../parts/groups/groups';
import { useConditionTexts } from './condition-text';
import { filterOf, parseDeviceSearch } from './device-search';

export function FilterText({ filter }: { readonly filter: object }) {
  const { t } = useTranslation();
  const search = parseDeviceSearch(filter as Readonly<Record<string, unknown>>);
  const isWholeFleet = filterOf(search) === undefined;
  const { groups } = useGroups();
  const { textOf } = useConditionTexts(groups);
  return isWholeFleet ? t('newJob.wholeFleet') : textOf(search);
}
