/**
 * The filter of the Devices page: text, a chip per condition, saved groups. All of it is in the
 * address.
 */
import { useEffect, useState } from 'react';
import { Button, Group, Pill, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { useGroups } from '../../parts/groups/groups';
import { AddCondition } from './add-condition';
import { useConditionTexts } from './condition-text';
import { type DeviceSearch, filterOf } from './device-search';
import classes from './devices.module.css';
import { DeviceChoicesDocument } from './generated/devices';
import { GroupMenu } from './group-menu';

export interface FilterBarProps {
  readonly search: DeviceSearch;
  readonly onChange: (change: Partial<DeviceSearch>) => void;
}

/** Ms after the last key before the hub is asked. */
const typingMs = 200;

export function FilterBar({ search, onChange }: FilterBarProps) {
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
          value={search.search ?? ''}
          onChange={(text) => onChange({ search: text === '' ? undefined : text })}
        />
        <AddCondition search={search} choices={choices.data} onChange={onChange} />
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

function SearchField({ value, onChange }: { readonly value: string; readonly onChange: (text: string) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const tell = useDebouncedCallback(onChange, typingMs);
  // The address changes by itself, too: a link, the browser's way back.
  useEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value]);
  return (
    <TextInput
      className={classes.search ?? ''}
      type="search"
      aria-label={t('devices.search')}
      placeholder={t('devices.search')}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        tell(event.currentTarget.value.trim());
      }}
    />
  );
}

function cleared(search: DeviceSearch): Partial<DeviceSearch> {
  return Object.fromEntries(Object.keys(filterOf(search) ?? {}).map((name) => [name, undefined]));
}
