/**
 * The filter of the Devices page: text, a chip per condition, saved groups. All of it is in the
 * address.
 */
import { Button, Group, Pill } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { useGroups } from '../../parts/groups/groups';
import { SearchField } from '../../parts/search/search-field';
import { AddCondition } from './add-condition';
import { useConditionTexts } from './condition-text';
import { type DeviceSearch, filterOf } from './device-search';
import classes from './devices.module.css';
import { DeviceChoicesDocument } from './generated/devices';
import { GroupMenu } from './group-menu';

interface FilterBarProps {
  readonly search: DeviceSearch;
  /** The filter is of a list, and not of what the hub changes or allows. */
  readonly isOfList?: boolean;
  readonly onChange: (change: Partial<DeviceSearch>) => void;
}

export function FilterBar({ search, isOfList = false, onChange }: FilterBarProps) {
  const { t } = useTranslation();
  const choices = useHubQuery({ query: DeviceChoicesDocument, variables: {} });
  const { groups, read } = useGroups();
  const readAgain = () => {
    choices.refresh();
    read.refresh();
  };
  const chips = useConditionTexts(groups).chipsOf(search);
  return (
    <div className={classes.filter}>
      <Group gap="xs" wrap="wrap">
        <SearchField
          className={classes.search ?? ''}
          aria-label={t('devices.search')}
          placeholder={t('devices.search')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search.search ?? ''}
          onChange={(text) => onChange({ search: text === '' ? undefined : text })}
        />
        <AddCondition search={search} choices={choices.data} isOfList={isOfList} onChange={onChange} />
        <GroupMenu
          search={search}
          groups={groups}
          onChange={onChange}
          onReplace={(filter) => onChange({ ...cleared(search), ...filter })}
        />
      </Group>
      <ReadFailure read={{ ...(choices.error ? choices : read), refresh: readAgain }} />
      {chips.length > 0 && (
        <Pill.Group aria-label={t('devices.conditions')}>
          {chips.map(({ key, text, removal }) => (
            <Pill
              key={key}
              className={classes.chip ?? ''}
              withRemoveButton
              onRemove={() => onChange(removal)}
              removeButtonProps={{
                'aria-label': t('devices.removeCondition', { condition: text }),
                tabIndex: 0,
                'aria-hidden': false,
              }}
            >
              {text}
            </Pill>
          ))}
          <Button variant="subtle" size="compact-xs" onClick={() => onChange(cleared(search))}>
            {t('devices.clear')}
          </Button>
        </Pill.Group>
      )}
    </div>
  );
}

function cleared(search: DeviceSearch): Partial<DeviceSearch> {
  return Object.fromEntries(Object.keys(filterOf(search) ?? {}).map((name) => [name, undefined]));
}
