/** Adds a rule or changes one. */
import { useState } from 'react';
import { MultiSelect, Select, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { NumberField } from '../../parts/number/number-field';
import {
  type AlertKind,
  type EditedRuleFragment,
  type AlertRuleInput,
  type AlertSeverity,
  type ChannelFieldsFragment,
  CreateAlertRuleDocument,
  type DeviceFilter,
  UpdateAlertRuleDocument,
} from './generated/alerts';
import { RuleDevices } from './rule-devices';
import { inputOfRule } from './rule-input';
import { kindsWithoutDevices, shareKinds, shownThreshold, typedThreshold } from './rule-kinds';
import { RuleMeasurement } from './rule-measurement';
import { RulePreview } from './rule-preview';

interface RuleDialogProps {
  readonly rule: EditedRuleFragment | undefined;
  readonly channels: readonly ChannelFieldsFragment[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const kinds: readonly AlertKind[] = [
  'DEVICE_OFFLINE',
  'FLEET_OFFLINE_SHARE',
  'CALL_FAILURE_RATIO',
  'MEASUREMENT',
  'UNEXPECTED_RESTARTS',
  'DESIRED_STATE_OUT_OF_SYNC',
  'JOB_STOPPED',
  'CREDENTIAL_REFUSED',
  'WEBHOOK_FAILING',
  'HUB_UNHEALTHY',
];
const severities: readonly AlertSeverity[] = ['INFO', 'WARNING', 'CRITICAL'];
const withThreshold: ReadonlySet<AlertKind> = new Set([
  'FLEET_OFFLINE_SHARE',
  'CALL_FAILURE_RATIO',
  'MEASUREMENT',
  'UNEXPECTED_RESTARTS',
  'CREDENTIAL_REFUSED',
]);
const withWindow: ReadonlySet<AlertKind> = new Set([
  'CALL_FAILURE_RATIO',
  'UNEXPECTED_RESTARTS',
  'CREDENTIAL_REFUSED',
  'JOB_STOPPED',
]);

const daySeconds = 86_400;

export function RuleDialog({ rule, channels, onClose, onSaved }: RuleDialogProps) {
  const { t } = useTranslation();
  const [input, setInput] = useState<AlertRuleInput>(() =>
    rule
      ? inputOfRule(rule)
      : {
          name: '',
          kind: 'DEVICE_OFFLINE',
          severity: 'WARNING',
          forSeconds: 300,
          windowSeconds: 600,
          groupAbove: 5,
          enabled: true,
          channelIds: channels.map(({ id }) => id),
        },
  );
  // The API returns the filter as the shape of its input.
  const [devices, setDevices] = useState((rule?.devices ?? null) as DeviceFilter | null | undefined);
  const create = useHubMutation(CreateAlertRuleDocument, (data) => data.createAlertRule.userErrors);
  const update = useHubMutation(UpdateAlertRuleDocument, (data) => data.updateAlertRule.userErrors);
  const change = (changes: Partial<AlertRuleInput>) => setInput((former) => ({ ...former, ...changes }));
  const save = async () => {
    const wanted = { ...input, devices: kindsWithoutDevices.has(input.kind) ? null : (devices ?? null) };
    const saved = rule
      ? await update.run({ id: rule.id, input: wanted, revision: rule.revision })
      : await create.run({ input: wanted });
    // Also after a refusal: opened again, it shows what another person has saved meanwhile.
    onSaved();
    if (saved) onClose();
  };
  return (
    <Dialog isOpen onClose={onClose} title={t(rule ? 'alerts.rule.edit' : 'alerts.rule.add')}>
      <DialogForm
        action={t('common.save')}
        onSubmit={save}
        onCancel={onClose}
        mutations={[create, update]}
        isDisabled={devices === undefined}
      >
        <TextInput
          label={t('alerts.rule.name')}
          value={input.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
          required
          data-autofocus
        />
        <Select
          label={t('alerts.rule.kind')}
          data={kinds.map((value) => ({ value, label: t(`alerts.kind.${value}`) }))}
          value={input.kind}
          disabled={rule !== undefined}
          allowDeselect={false}
          onChange={(kind) => change({ kind: kind as AlertKind, threshold: null, path: null, below: false })}
        />
        {!kindsWithoutDevices.has(input.kind) && <RuleDevices devices={devices} onChange={setDevices} />}
        {input.kind === 'MEASUREMENT' && <RuleMeasurement input={input} onChange={change} />}
        <RuleNumbers input={input} onChange={change} />
        <RuleTargets input={input} channels={channels} onChange={change} />
        {devices !== undefined && (
          <RulePreview input={{ ...input, devices: kindsWithoutDevices.has(input.kind) ? null : devices }} />
        )}
      </DialogForm>
    </Dialog>
  );
}

interface RuleNumbersProps {
  readonly input: AlertRuleInput;
  readonly onChange: (changes: Partial<AlertRuleInput>) => void;
}

interface RuleTargetsProps extends RuleNumbersProps {
  readonly channels: RuleDialogProps['channels'];
}

/** How serious it is, who receives it, and whether it is evaluated. */
function RuleTargets({ input, channels, onChange: change }: RuleTargetsProps) {
  const { t } = useTranslation();
  return (
    <>
      <Select
        label={t('alerts.rule.severity')}
        data={severities.map((value) => ({ value, label: t(`alerts.badge.${value}`) }))}
        value={input.severity ?? 'WARNING'}
        allowDeselect={false}
        onChange={(severity) => change({ severity: severity as AlertSeverity })}
      />
      <MultiSelect
        label={t('alerts.rule.channels')}
        data={channels.map(({ id, name }) => ({ value: id, label: name }))}
        value={[...input.channelIds]}
        onChange={(channelIds) => change({ channelIds })}
      />
      <Switch
        label={t('alerts.rule.enabled')}
        checked={input.enabled ?? true}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </>
  );
}

function RuleNumbers({ input, onChange }: RuleNumbersProps) {
  const { t } = useTranslation();
  const { kind, threshold } = input;
  const isMeasurement = kind === 'MEASUREMENT';
  const isShare = shareKinds.has(kind);
  return (
    <>
      {withThreshold.has(kind) && (
        <NumberField
          label={t(isShare ? 'alerts.rule.thresholdPercent' : 'alerts.rule.threshold')}
          description={!isMeasurement && t('alerts.rule.thresholdHint')}
          required={isMeasurement}
          allowDecimal
          allowNegative={isMeasurement}
          min={isMeasurement ? undefined : 0}
          max={isShare ? 100 : undefined}
          value={shownThreshold(kind, threshold ?? undefined)}
          onChange={(typed) => onChange({ threshold: typedThreshold(kind, typed) ?? null })}
          w="100%"
        />
      )}
      <NumberField
        label={t('alerts.rule.for')}
        description={t('alerts.rule.forHint')}
        min={0}
        max={30 * daySeconds}
        fallback={300}
        value={input.forSeconds ?? 300}
        onChange={(forSeconds) => onChange({ forSeconds })}
        w="100%"
      />
      {withWindow.has(input.kind) && (
        <NumberField
          label={t('alerts.rule.window')}
          min={10}
          max={7 * daySeconds}
          fallback={600}
          value={input.windowSeconds ?? 600}
          onChange={(windowSeconds) => onChange({ windowSeconds })}
          w="100%"
        />
      )}
      <NumberField
        label={t('alerts.rule.groupAbove')}
        min={0}
        max={1_000_000}
        fallback={5}
        value={input.groupAbove ?? 5}
        onChange={(groupAbove) => onChange({ groupAbove })}
        w="100%"
      />
      <NumberField
        label={t('alerts.rule.repeat')}
        description={t('alerts.rule.repeatHint')}
        min={60}
        max={30 * daySeconds}
        value={input.repeatEverySeconds ?? undefined}
        onChange={(seconds) => onChange({ repeatEverySeconds: seconds ?? null })}
        w="100%"
      />
    </>
  );
}
