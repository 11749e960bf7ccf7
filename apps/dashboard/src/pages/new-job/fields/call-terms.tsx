/** How a call is made and looked after: rarely changed, because the tool's policy says it. */
import { Checkbox, Group, Select, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../../../parts/disclosure';
import { NumberField } from '../../../parts/number/number-field';
import { refusedAt } from '../refusals';
import type { ToolChoice } from './most-common-tools';
import { useWizard } from '../wizard';

type Policy = ToolChoice['policy'];

export function CallTerms({ policy }: { readonly policy: Policy }) {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  const refused = {
    verification: refusedAt(refusals, 'verification'),
    callTimeout: refusedAt(refusals, 'callTimeoutMs'),
    maxAttempts: refusedAt(refusals, 'maxAttempts'),
    skip: refusedAt(refusals, 'skipIfSatisfied'),
  };
  return (
    <Disclosure
      title={t('newJob.advanced')}
      hint={t('newJob.callTermsHint')}
      isOpen={Object.values(refused).some(Boolean)}
    >
      <Stack>
        <Group align="flex-start">
          <Verification policy={policy} error={refused.verification} />
          <NumberField
            label={t('newJob.callTimeout')}
            description={t('newJob.callTimeoutHint')}
            placeholder={t('newJob.exactSeconds', { count: policy.callTimeoutMs / 1_000 })}
            suffix={t('unit.s')}
            min={1}
            max={300}
            value={draft.callTimeoutSeconds}
            error={refused.callTimeout}
            onChange={(callTimeoutSeconds) => change({ callTimeoutSeconds })}
          />
          {policy.idempotent && (
            <NumberField
              label={t('newJob.maxAttempts')}
              description={t('newJob.maxAttemptsHint')}
              min={1}
              max={10}
              fallback={3}
              value={draft.maxAttempts}
              error={refused.maxAttempts}
              onChange={(maxAttempts = 3) => change({ maxAttempts })}
            />
          )}
        </Group>
        {!policy.idempotent && <p className="soft">{t('newJob.sentOnce')}</p>}
        {policy.readback !== null && (
          <Checkbox
            label={t('newJob.skipIfSatisfied')}
            description={t('newJob.skipIfSatisfiedHint', { tool: policy.readback.tool })}
            checked={draft.skipIfSatisfied}
            error={refused.skip}
            onChange={(event) => change({ skipIfSatisfied: event.currentTarget.checked })}
          />
        )}
      </Stack>
    </Disclosure>
  );
}

/**
 * The verification: READBACK if the policy names a value, otherwise the response. Restarts and
 * upgrades are fixed.
 */
function Verification({ policy, error }: { readonly policy: Policy; readonly error: string | undefined }) {
  const { t } = useTranslation();
  const { draft, change } = useWizard();
  const isFixed = policy.verification === 'REBOOT' || policy.verification === 'FIRMWARE';
  const choices = isFixed
    ? [policy.verification]
    : policy.readback === null
      ? (['NONE'] as const)
      : (['NONE', 'READBACK'] as const);
  return (
    <Select
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      label={t('newJob.verification')}
      description={t(
        isFixed
          ? 'newJob.verificationFixed'
          : policy.readback === null
            ? 'newJob.verificationNone'
            : 'newJob.verificationHint',
      )}
      data={choices.map((value) => ({ value, label: t(`newJob.verifications.${value}`) }))}
      value={draft.verification ?? policy.verification}
      onChange={(chosen) => change({ verification: chosen === policy.verification ? undefined : (chosen as 'NONE') })}
      disabled={choices.length === 1}
      error={error}
      w={300}
      maw="100%"
    />
  );
}
