/** What happens to a changed value, when the desired state applies, and how edits go out. */
import { Checkbox, Group, Radio, Select, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../../../parts/disclosure';
import { NumberField } from '../../../parts/number/number-field';
import { WindowFieldset } from '../../new-job/fields/window-fieldset';
import { refusedAt, refusedIn } from '../../new-job/refusals';
import type { DailyHours } from '../../../parts/zone/zoned-time';
import type { DesiredDraft, Rollout } from './desired-draft';
import type { DesiredFields } from './desired-fields';

/** Minutes: 30 days. */
const holdMinutesMax = 43_200;
const priorityMax = 1_000;

export function FieldsOfRules(fields: DesiredFields) {
  const { t } = useTranslation();
  const { draft, change, refusals } = fields;
  const isOpen = ['maxInFlight', 'perMinute', 'waves', 'abort'].some((name) => refusedIn(refusals, name) !== undefined);
  return (
    <Stack>
      <Radio.Group
        label={t('desired.mode')}
        value={draft.mode}
        onChange={(mode) => change({ mode: mode as DesiredDraft['mode'] })}
      >
        <Stack gap={4} mt={4}>
          {(['ENFORCE', 'REPORT'] as const).map((mode) => (
            <Radio key={mode} value={mode} label={t(`desired.modes.${mode}`)} />
          ))}
        </Stack>
      </Radio.Group>
      {draft.mode === 'ENFORCE' && <Drift {...fields} />}
      <Hours {...fields} />
      <NumberField
        label={t('desired.priority')}
        description={t('desired.priorityHint')}
        min={-priorityMax}
        max={priorityMax}
        allowNegative
        fallback={0}
        value={draft.priority}
        error={refusedAt(refusals, 'priority')}
        onChange={(priority = 0) => change({ priority })}
        w={420}
      />
      <Disclosure title={t('newJob.advanced')} hint={t('desired.advancedHint')} isOpen={isOpen}>
        <Pace {...fields} />
      </Disclosure>
    </Stack>
  );
}

function Drift({ draft, change, refusals }: DesiredFields) {
  const { t, i18n } = useTranslation();
  const minutes = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 }).format(draft.holdMinutes);
  return (
    <>
      <Radio.Group
        label={t('desired.onDrift')}
        value={draft.onDrift}
        onChange={(onDrift) => change({ onDrift: onDrift as DesiredDraft['onDrift'] })}
      >
        <Stack gap={4} mt={4}>
          {(['REVERT', 'HOLD', 'ACCEPT'] as const).map((action) => (
            <Radio key={action} value={action} label={t(`desired.driftActions.${action}`, { minutes })} />
          ))}
        </Stack>
      </Radio.Group>
      {draft.onDrift === 'HOLD' && (
        <NumberField
          label={t('desired.holdMinutes')}
          suffix={t('unit.min')}
          allowDecimal
          min={0}
          max={holdMinutesMax}
          fallback={30}
          value={draft.holdMinutes}
          error={refusedAt(refusals, 'holdSeconds')}
          onChange={(holdMinutes = 30) => change({ holdMinutes })}
        />
      )}
    </>
  );
}

function Hours({ draft: { window }, change, refusals }: DesiredFields) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm">
      <Checkbox
        label={t('desired.onlyInWindow')}
        description={t('desired.windowHint')}
        checked={window !== undefined}
        onChange={(event) => change({ window: event.currentTarget.checked ? night : undefined })}
      />
      {window && (
        <WindowFieldset
          legend={t('desired.window')}
          window={window}
          refusals={refusals}
          withoutZone={t('desired.deviceZone')}
          onChange={(changed) => change({ window: { ...window, ...changed } })}
        />
      )}
    </Stack>
  );
}

const night: DailyHours = { from: '22:00', to: '07:00', zone: '', days: [] };

function Pace({ draft, change, refusals }: DesiredFields) {
  const { t } = useTranslation();
  const kinds: readonly Rollout[] = draft.keptRollout.waves || draft.keptRollout.abort ? all : all.slice(0, 2);
  return (
    <Stack>
      <Select
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        label={t('desired.rollouts')}
        description={t('desired.rolloutsHint')}
        data={kinds.map((value) => ({ value, label: t(`desired.rolloutKinds.${value}`) }))}
        value={draft.rollout}
        error={refusedIn(refusals, 'waves') ?? refusedIn(refusals, 'abort')}
        onChange={(rollout) => change({ rollout: rollout as Rollout })}
        allowDeselect={false}
        w={420}
        maw="100%"
      />
      <Group align="flex-start">
        <NumberField
          label={t('newJob.maxInFlight')}
          min={1}
          max={10_000}
          fallback={200}
          value={draft.maxInFlight}
          error={refusedAt(refusals, 'maxInFlight')}
          onChange={(maxInFlight = 200) => change({ maxInFlight })}
        />
        <NumberField
          label={t('newJob.perMinute')}
          placeholder={t('newJob.noLimit')}
          min={1}
          max={6_000_000}
          value={draft.perMinute}
          error={refusedAt(refusals, 'perMinute')}
          onChange={(perMinute) => change({ perMinute })}
        />
      </Group>
    </Stack>
  );
}

const all: readonly Rollout[] = ['once', 'waves', 'kept'];
