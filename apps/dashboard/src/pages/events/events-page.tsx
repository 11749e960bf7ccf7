/** What happens in the fleet, live, with a filter that is in the address. */
import { useMemo } from 'react';
import { Select, TagsInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { eventTypes } from '../../parts/events/event-types';
import { Page } from '../../parts/page';
import { SearchField } from '../../parts/search/search-field';
import { type EventPreset, filterOf, presetNames, presetOf, presets, typesOf, withTypes } from './event-search';
import { EventTail } from './event-tail';
import classes from './events.module.css';
import type { EventFilter } from './generated/events';

const route = getRouteApi('/events');

export function EventsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { deviceId } = search;
  const navigate = useNavigate({ from: '/events' });
  const setDevice = (id: string) =>
    void navigate({
      search: ({ types: wanted, except: unwanted }) => ({
        ...(wanted && { types: wanted }),
        ...(unwanted && { except: unwanted }),
        ...(id !== '' && { deviceId: id }),
      }),
      replace: true,
    });
  const { types, except } = typesOf(search);
  const choose = (chosen: Partial<ReturnType<typeof typesOf>>) =>
    void navigate({ search: (now) => withTypes(now, { ...typesOf(now), ...chosen }), replace: true });
  const written = JSON.stringify(filterOf(search));
  const filter = useMemo(() => JSON.parse(written) as EventFilter, [written]);
  return (
    <Page title={t('events.title')} lead={t('events.lead')}>
      <div className={classes.filter}>
        <Select
          label={t('events.show')}
          placeholder={t('events.presets.own')}
          data={presetNames.map((name) => ({ value: name, label: t(`events.presets.${name}`) }))}
          value={presetOf(search) ?? null}
          onChange={(name) => name !== null && choose(presets[name as EventPreset])}
          allowDeselect={false}
          flex="1 1 150px"
          maw={200}
        />
        <TypesInput
          label={t('events.types')}
          placeholder={t('events.all')}
          types={types}
          onChange={(wanted) => choose({ types: wanted })}
        />
        <TypesInput label={t('events.except')} types={except} onChange={(unwanted) => choose({ except: unwanted })} />
        <SearchField
          label={t('events.device')}
          placeholder={t('events.deviceHint')}
          value={deviceId ?? ''}
          onChange={setDevice}
          flex="1 1 200px"
          maw={280}
        />
      </div>
      <EventTail filter={filter} />
    </Page>
  );
}

interface TypesInputProps {
  readonly label: string;
  /** Shown while there are no types. */
  readonly placeholder?: string;
  readonly types: readonly string[];
  readonly onChange: (types: readonly string[]) => void;
}

/** Types, or prefixes, which can be typed. */
function TypesInput({ label, placeholder = '', types, onChange }: TypesInputProps) {
  return (
    <TagsInput
      label={label}
      placeholder={types.length === 0 ? placeholder : ''}
      data={[...eventTypes]}
      value={[...types]}
      onChange={onChange}
      clearable
      acceptValueOnBlur
      flex="1 1 280px"
      maw={440}
    />
  );
}
