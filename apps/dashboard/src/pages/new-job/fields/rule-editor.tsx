/** One rule that stops the job: which outcomes, how many of them, and what then. */
import { ActionIcon, Group, MultiSelect, Select, Stack } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Disclosure } from '../../../parts/disclosure';
import { type CountedOutcome, countedOutcomes, type DraftRule } from '../job-draft';
import { NumberField } from '../../../parts/number/number-field';
import { type Refusal, refusedAt } from '../refusals';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

interface RuleEditorProps {
  readonly index: number;
  readonly rule: DraftRule;
  readonly onChange: (change: Partial<DraftRule>) => void;
  readonly onRemove: () => void;
}

export function RuleEditor({ index, rule, onChange, onRemove }: RuleEditorProps) {
  const { t } = useTranslation();
  const { refusals, isTried } = useWizard();
  const number = index + 1;
  const refused = (member?: string) => refusedInRule(refusals, index, member);
  const hasNoBound = isTried && rule.percent === undefined && rule.count === undefined;
  return (
    <fieldset className={classes.part}>
      <legend className={classes.label}>{t('newJob.rule', { number })}</legend>
      <Stack flex={1} miw={0}>
        <Group align="flex-start">
          <MultiSelect
            label={t('newJob.ruleOutcomes')}
            data={countedOutcomes.map((value) => ({ value, label: t(`outcome.${value}`) }))}
            value={[...rule.outcomes]}
            error={(isTried && rule.outcomes.length === 0 && t('newJob.missing.outcomes')) || refused('outcomes')}
            onChange={(outcomes) => onChange({ outcomes: outcomes as CountedOutcome[] })}
            flex="1 1 260px"
            miw={0}
          />
          <NumberField
            label={t('newJob.rulePercent')}
            placeholder={t('common.none')}
            suffix=" %"
            min={0.1}
            max={100}
            allowDecimal
            w={150}
            value={rule.percent}
            error={(hasNoBound && t('newJob.missing.bound')) || refused('ratio') || refused()}
            onChange={(percent) => onChange({ percent })}
          />
          <Select
            label={t('newJob.ruleAction')}
            data={(['PAUSE', 'CANCEL'] as const).map((value) => ({ value, label: t(`newJob.ruleActions.${value}`) }))}
            value={rule.action}
            onChange={(action) => onChange({ action: action === 'CANCEL' ? 'CANCEL' : 'PAUSE' })}
            w={160}
          />
          <ActionIcon aria-label={t('newJob.removeRule', { number })} onClick={onRemove} size="lg" mt={24}>
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
        <Details rule={rule} onChange={onChange} refused={refused} />
      </Stack>
    </fieldset>
  );
}

interface DetailsProps extends Pick<RuleEditorProps, 'rule' | 'onChange'> {
  readonly refused: (member: string) => string | undefined;
}

function Details({ rule, onChange, refused }: DetailsProps) {
  const { t } = useTranslation();
  const isOpen =
    rule.count !== undefined ||
    rule.scope === 'WAVE' ||
    ['count', 'minDecided', 'scope'].some((member) => refused(member));
  return (
    <Disclosure title={t('newJob.advanced')} hint={t('newJob.ruleTermsHint')} isOpen={isOpen}>
      <Group align="flex-start">
        <NumberField
          label={t('newJob.ruleCount')}
          description={t('newJob.ruleCountHint')}
          placeholder={t('common.none')}
          min={1}
          max={1_000_000}
          value={rule.count}
          error={refused('count')}
          onChange={(count) => onChange({ count })}
        />
        <NumberField
          label={t('newJob.minDecided')}
          description={t('newJob.minDecidedHint')}
          placeholder={t('newJob.minDecidedUsual')}
          min={1}
          max={1_000_000}
          w={270}
          value={rule.minDecided}
          error={refused('minDecided')}
          onChange={(minDecided) => onChange({ minDecided })}
        />
        <Select
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          label={t('newJob.ruleScope')}
          description={t('newJob.ruleScopeHint')}
          data={(['JOB', 'WAVE'] as const).map((value) => ({ value, label: t(`newJob.ruleScopes.${value}`) }))}
          value={rule.scope}
          onChange={(scope) => onChange({ scope: scope === 'WAVE' ? 'WAVE' : 'JOB' })}
          w={220}
        />
      </Group>
    </Disclosure>
  );
}

function refusedInRule(refusals: readonly Refusal[], index: number, member?: string): string | undefined {
  return member === undefined
    ? refusedAt(refusals, 'abort', String(index))
    : refusedAt(refusals, 'abort', String(index), member);
}
