/** A filter in words, for chips and for groups. */
import { useTranslation } from 'react-i18next';
import { useMomentText } from '../../parts/zone/moment';
import { type PlainCondition, plainPartsOf, withoutExcluded, withoutPart } from './condition-parts';
import { conditionsOf, type DeviceConditions, type DeviceSearch, excludedBy, hasFields, listIn } from './device-search';
import type { Dialect, TransportKind } from './generated/devices';

interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

interface Chip {
  readonly key: string;
  readonly text: string;
  /** The change of the filter that takes it away. */
  readonly removal: Partial<DeviceSearch>;
}

interface ConditionTexts {
  readonly chipsOf: (search: DeviceSearch) => readonly Chip[];
  readonly textOf: (conditions: DeviceConditions) => string;
}

export function useConditionTexts(groups: readonly NamedGroup[]): ConditionTexts {
  const { t } = useTranslation();
  const momentText = useMomentText();
  const valueText = (name: string, value: unknown): string => {
    // An address may have a value that does not exist; the chip shows it.
    const defaultValue = String(value);
    if (name === 'presence') return t(`presence.${value as 'ONLINE'}`, { defaultValue });
    if (name === 'transport') return t(`devices.transports.${value as TransportKind}`, { defaultValue });
    if (name === 'dialect') return t(`devices.dialects.${value as Dialect}`, { defaultValue });
    if (name === 'groupId') return groups.find(({ id }) => id === value)?.name ?? String(value);
    if (name === 'lastSeenBefore') {
      const at = new Date(String(value));
      // The hub does not accept another value; the chip shows what the address has.
      if (Number.isNaN(at.getTime())) return String(value);
      return momentText(at.getTime());
    }
    return String(value);
  };
  const plainText = (name: PlainCondition, value: unknown): string => {
    if (name === 'toolsStale') return t(value === true ? 'devices.condition.toolsStale' : 'devices.toolsFresh');
    if (name === 'outOfSync') return t(value === true ? 'devices.condition.outOfSync' : 'devices.notOutOfSync');
    if (name === 'ids') return t('devices.chosenIds', { count: (value as readonly string[]).length });
    return t(`devices.condition.${name}`) + t('mark.colon') + valueText(name, value);
  };
  const eitherText = (any: readonly DeviceConditions[]): string =>
    listIn(any)
      .map((alternative) => textOf(alternative))
      .join(` ${t('devices.or')} `);
  const notText = (excluded: DeviceConditions): string => t('devices.not', { condition: textOf(excluded) });
  const textOf = (conditions: DeviceConditions): string => {
    if (!hasFields(conditions)) return String(conditions);
    return [
      ...plainPartsOf(conditions).map(({ name, value }) => plainText(name, value)),
      ...(conditions.any ? [t('mark.open').trim() + eitherText(conditions.any) + t('mark.close')] : []),
      ...excludedBy(conditions).map(notText),
    ].join(` ${t('devices.and')} `);
  };
  const chipsOf = (search: DeviceSearch): readonly Chip[] => [
    ...plainPartsOf(conditionsOf(search))
      .filter(({ name }) => name !== 'search')
      .map(({ name, value }) => ({
        key: `${name} ${String(value)}`,
        text: plainText(name, value),
        removal: withoutPart(search, name, value),
      })),
    ...(search.any !== undefined ? [{ key: 'any', text: eitherText(search.any), removal: { any: undefined } }] : []),
    ...excludedBy(search).map((excluded, index) => ({
      key: `not ${index}`,
      text: notText(excluded),
      removal: withoutExcluded(search, index),
    })),
  ];
  return { chipsOf, textOf };
}
