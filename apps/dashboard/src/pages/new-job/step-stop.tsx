/** When it stops by itself, and what becomes of devices that are away. */
import { Checkbox, Group, NumberInput, Select, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DraftAbort } from './job-draft';
import type { StepProps } from './new-job-page';

export function StepStop({ draft, change }: StepProps) {
  const { t } = useTranslation();
  const { abort } = draft;
  return (
    <Stack>
      <Checkbox
        label={t('newJob.abort')}
        description={t('newJob.abortHint')}
        checked={abort !== undefined}
        onChange={(event) =>
          change({ abort: event.currentTarget.checked ? { percent: 20, minDecided: undefined, action: 'PAUSE' } : undefined })
        }
      />
      {abort && <AbortRule abort={abort} onChange={(changed) => change({ abort: { ...abort, ...changed } })} />}
      <Group align="flex-end">
        <Select
          label={t('newJob.offline')}
          data={(['WAIT', 'SKIP', 'FAIL'] as const).map((value) => ({ value, label: t(`newJob.offlineKinds.${value}`) }))}
          value={draft.offline}
          onChange={(offline) => change({ offline: offline as 'WAIT' })}
          w={260}
        />
        <NumberInput
          label={t('newJob.expires')}
          min={0.1}
          max={720}
          value={draft.expiresInHours}
          onChange={(value) => change({ expiresInHours: Number(value) || 24 })}
          w={180}
        />
        <NumberInput
          label={t('newJob.maxAttempts')}
          min={1}
          max={10}
          value={draft.maxAttempts}
          onChange={(value) => change({ maxAttempts: Number(value) || 1 })}
          w={180}
        />
      </Group>
      <Checkbox
        label={t('newJob.skipIfSatisfied')}
        checked={draft.skipIfSatisfied}
        onChange={(event) => change({ skipIfSatisfied: event.currentTarget.checked })}
      />
    </Stack>
  );
}

interface AbortRuleProps {
  readonly abort: DraftAbort;
  readonly onChange: (change: Partial<DraftAbort>) => void;
}

function AbortRule({ abort, onChange }: AbortRuleProps) {
  const { t } = useTranslation();
  return (
    <Group align="flex-end">
      <NumberInput
        label={t('newJob.abortPercent')}
        min={1}
        max={100}
        value={abort.percent}
        onChange={(value) => onChange({ percent: Number(value) })}
        w={180}
      />
      <NumberInput
        label={t('newJob.minDecided')}
        placeholder={t('newJob.minDecidedHint')}
        min={1}
        value={abort.minDecided ?? ''}
        onChange={(value) => onChange({ minDecided: value === '' ? undefined : Number(value) })}
        w={180}
      />
      <Select
        label={t('newJob.abortAction')}
        data={(['PAUSE', 'CANCEL'] as const).map((value) => ({ value, label: t(`newJob.abortActions.${value}`) }))}
        value={abort.action}
        onChange={(action) => onChange({ action: action === 'CANCEL' ? 'CANCEL' : 'PAUSE' })}
        w={180}
      />
    </Group>
  );
}
