/** Makes a policy for a tool or a prefix, or changes one. */
import { useState } from 'react';
import { Button, Select, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { NumberField } from '../../parts/number/number-field';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { SetToolPolicyDocument, type Verification } from './generated/settings';
import { emptyReadback, inputOf, type Policy, usualReading } from './policy-input';

interface PolicyDialogProps {
  readonly policy: Policy | undefined;
  /** All of the hub, as the page shows them. */
  readonly policies: readonly Policy[];
  /** Opens another policy in place of this one. */
  readonly onEdit: (policy: Policy) => void;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const verifications: readonly Verification[] = ['NONE', 'READBACK', 'REBOOT', 'FIRMWARE'];
const readings = ['unsaid', 'yes', 'no'] as const;
/** The empty revision: the hub refuses to replace a policy. */
const blank: Policy = {
  pattern: '',
  idempotent: false,
  disruptive: false,
  readOnly: null,
  disconnectExpected: false,
  verification: 'NONE',
  readback: null,
  failureText: null,
  callTimeoutMs: 60_000,
  revision: '',
};

export function PolicyDialog({ policy, policies, onEdit, onClose, onSaved }: PolicyDialogProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState<Policy>(policy ?? blank);
  const change = (part: Partial<Policy>) => setDraft((now) => ({ ...now, ...part }));
  const act = useHubMutation(SetToolPolicyDocument, (data) => data.setToolPolicy.userErrors);
  const save = async () => {
    const saved = await act.run({ input: inputOf(draft), revision: draft.revision });
    // Also after a refusal: opened again, it shows what another person has saved meanwhile.
    onSaved();
    if (saved) onClose();
  };
  const isTaken = policy === undefined && act.failure?.codes.includes('CONFLICT');
  const existing = isTaken ? policies.find(({ pattern }) => pattern === draft.pattern.trim()) : undefined;
  return (
    <Dialog onClose={onClose} title={t(policy ? 'settings.editPolicy' : 'settings.addPolicy')}>
      <DialogForm action={t('common.save')} onSubmit={save} onCancel={onClose} mutations={[act]}>
        <TextInput
          label={t('settings.pattern')}
          description={t('settings.patternHint')}
          value={draft.pattern}
          onChange={(event) => change({ pattern: event.currentTarget.value })}
          readOnly={policy !== undefined}
          required
        />
        {(['idempotent', 'disruptive', 'disconnectExpected'] as const).map((name) => (
          <Switch
            key={name}
            label={t(`settings.knowledge.${name}`)}
            checked={draft[name]}
            onChange={(event) => change({ [name]: event.currentTarget.checked })}
          />
        ))}
        <Select
          label={t('settings.readOnly')}
          description={t('settings.readOnlyHint')}
          data={readings.map((value) => ({ value, label: t(`settings.readings.${value}`) }))}
          value={readingOf(draft)}
          onChange={(chosen) => change({ readOnly: chosen === 'unsaid' ? null : chosen === 'yes' })}
          allowDeselect={false}
        />
        <VerificationFields draft={draft} onChange={change} />
        <NumberField
          label={t('settings.timeoutLong')}
          value={draft.callTimeoutMs / 1_000}
          min={1}
          max={300}
          fallback={60}
          allowDecimal
          onChange={(seconds) => change({ callTimeoutMs: Math.round((seconds ?? 60) * 1_000) })}
          w="100%"
        />
        {existing && (
          <Button variant="default" onClick={() => onEdit(existing)}>
            {t('settings.editExistingPolicy', { pattern: existing.pattern })}
          </Button>
        )}
      </DialogForm>
    </Dialog>
  );
}

function readingOf({ readOnly }: Policy): (typeof readings)[number] {
  return readOnly === null ? 'unsaid' : readOnly ? 'yes' : 'no';
}

interface VerificationFieldsProps {
  readonly draft: Policy;
  readonly onChange: (part: Partial<Policy>) => void;
}

function VerificationFields({ draft: { readback, verification }, onChange }: VerificationFieldsProps) {
  const { t } = useTranslation();
  const choose = (chosen: string | null) =>
    onChange({
      verification: chosen as Verification,
      ...(chosen === 'READBACK' && !readback && { readback: emptyReadback }),
    });
  return (
    <>
      <Select
        label={t('settings.verification')}
        data={verifications.map((value) => ({ value, label: t(`settings.verifications.${value}`) }))}
        value={verification}
        onChange={choose}
      />
      {readback &&
        (['tool', 'path', 'argument'] as const).map((name) => (
          <TextInput
            key={name}
            label={t(`settings.readback.${name}`)}
            value={readback[name]}
            onChange={(event) => onChange({ readback: { ...readback, [name]: event.currentTarget.value } })}
          />
        ))}
      {readback && (
        <>
          <NumberField
            label={t('settings.readback.tolerance')}
            value={readback.tolerance}
            min={0}
            fallback={usualReading.tolerance}
            allowDecimal
            onChange={(tolerance = usualReading.tolerance) => onChange({ readback: { ...readback, tolerance } })}
            w="100%"
          />
          <NumberField
            label={t('settings.readback.settle')}
            suffix={t('unit.ms')}
            value={readback.settleMs}
            min={0}
            max={60_000}
            fallback={usualReading.settleMs}
            onChange={(settleMs = usualReading.settleMs) => onChange({ readback: { ...readback, settleMs } })}
            w="100%"
          />
          {verification !== 'READBACK' && (
            <Button variant="default" onClick={() => onChange({ readback: null })}>
              {t('settings.readback.remove')}
            </Button>
          )}
        </>
      )}
    </>
  );
}
