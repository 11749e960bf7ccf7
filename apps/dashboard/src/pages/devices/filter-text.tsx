/** A DeviceFilter in words, with the names of its groups. */
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { useConditionTexts } from './condition-text';
import { filterOf, parseDeviceSearch } from './device-search';
import { DeviceChoicesDocument } from './generated/devices';

export function FilterText({ filter }: { readonly filter: object }) {
  const { t } = useTranslation();
  const search = parseDeviceSearch(filter as Readonly<Record<string, unknown>>);
  const isWholeFleet = filterOf(search) === undefined;
  const choices = useHubQuery({ query: DeviceChoicesDocument, variables: {}, pause: isWholeFleet });
  const { textOf } = useConditionTexts(choices.data?.deviceGroups.nodes ?? []);
  return isWholeFleet ? t('newJob.wholeFleet') : textOf(search);
}
