/** What happens in the fleet, live, with a filter that is in the address. */
import { useMemo, useState } from 'react';
import { TagsInput, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '../../parts/page';
import { EventTail } from './event-tail';
import { eventTypes } from './event-types';
import classes from './events.module.css';

const route = getRouteApi('/events');
/** Ms after the last key before the hub is asked. */
const typingMs = 300;

export function EventsPage() {
  const { t } = useTranslation();
  const { types, deviceId } = route.useSearch();
  const navigate = useNavigate({ from: '/events' });
  const [typed, setTyped] = useState(deviceId ?? '');
  const setDevice = useDebouncedCallback((id: string) => {
    void navigate({
      search: (now) => ({ ...(now.types && { types: now.types }), ...(id !== '' && { deviceId: id }) }),
      replace: true,
    });
  }, typingMs);
  const chosen = types?.join(' ');
  const filter = useMemo(
    () => ({ ...(chosen !== undefined && { types: chosen.split(' ') }), ...(deviceId !== undefined && { deviceId }) }),
    [chosen, deviceId],
  );
  return (
    <Page title={t('events.title')} lead={t('events.lead')}>
      <div className={classes.filter}>
        <TagsInput
          label={t('events.types')}
          placeholder={types === undefined ? t('events.all') : ''}
          data={[...eventTypes]}
          value={[...(types ?? [])]}
          onChange={(wanted) =>
            void navigate({
              search: (now) => ({
                ...(now.deviceId !== undefined && { deviceId: now.deviceId }),
                ...(wanted.length > 0 && { types: wanted }),
              }),
              replace: true,
            })
          }
          clearable
          acceptValueOnBlur
          flex="1 1 300px"
          maw={520}
        />
        <TextInput
          label={t('events.device')}
          placeholder={t('events.deviceHint')}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setDevice(event.currentTarget.value.trim());
          }}
          flex="1 1 200px"
          maw={280}
        />
      </div>
      <EventTail filter={filter} />
    </Page>
  );
}
