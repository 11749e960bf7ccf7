/** The hours of the day at which the job may send, in the zone of the devices. */
import { Checkbox, Chip, Group, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { weekdayNames } from '../../../parts/job/weekdays';
import { NextOpening } from '../../../parts/zone/hours-text';
import { viewerZone } from '../../../parts/zone/time-zones';
import { ZoneField } from '../../../parts/zone/zone-field';
import type { DraftWindow } from '../job-draft';
import { refusedAt } from '../refusals';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

export function HoursFields() {
  const { t } = useTranslation();
  const { draft, change } = useWizard();
  const night = () => ({ from: '22:00', to: '06:00', zone: viewerZone(), days: [] });
  return (
    <Stack gap="sm">
      <Checkbox
        label={t('newJob.window')}
        description={t('newJob.windowHint')}
        checked={draft.window !== undefined}
        onChange={(event) => change({ window: event.currentTarget.checked ? night() : undefined })}
      />
      {draft.window && <Hours window={draft.window} />}
    </Stack>
  );
}

function Hours({ window }: { readonly window: DraftWindow }) {
  const { t, i18n } = useTranslation();
  const { change, refusals } = useWizard();
  const set = (changed: Partial<DraftWindow>) => change({ window: { ...window, ...changed } });
  const refused = refusedAt(refusals, 'window');
  return (
    <fieldset className={classes.part}>
      <legend className={classes.label}>{t('newJob.windowOf')}</legend>
      {(['from', 'to'] as const).map((end) => (
        <TextInput
          key={end}
          type="time"
          label={t(`newJob.windowEnds.${end}`)}
          value={window[end]}
          error={refusedAt(refusals, 'window', end)}
          onChange={(event) => set({ [end]: event.currentTarget.value })}
          w={120}
        />
      ))}
      <ZoneField
        label={t('newJob.zone')}
        value={window.zone}
        error={refusedAt(refusals, 'window', 'zone')}
        onChange={(zone) => set({ zone: zone || viewerZone() })}
        w={300}
      />
      <Chip.Group multiple value={window.days.map(String)} onChange={(days) => set({ days: days.map(Number) })}>
        <Group gap={6} role="group" aria-label={t('newJob.days')} pb={4}>
          {weekdayNames(i18n.language).map((name, index) => (
            <Chip key={name} value={String(index + 1)} size="xs">
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <p className={classes.hint}>{t(window.days.length === 0 ? 'newJob.everyDay' : 'newJob.onTheseDays')}</p>
      <div className={classes.hint}>
        <NextOpening hours={window} />
      </div>
      {refused !== undefined && (
        <p className={classes.refused} role="alert">
          {refused}
        </p>
      )}
    </fieldset>
  );
}
