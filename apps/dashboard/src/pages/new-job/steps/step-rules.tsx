/** When it stops by itself. */
import { Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../../parts/act-button';
import { type DraftRule, usualRule } from '../job-draft';
import { refusedAt } from '../refusals';
import { RuleEditor } from '../fields/rule-editor';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

const rulesMax = 10;

export function StepRules() {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  const { rules } = draft;
  const refused = refusedAt(refusals, 'abort');
  const set = (index: number, changed: Partial<DraftRule>) =>
    change({ rules: rules.map((rule, at) => (at === index ? { ...rule, ...changed } : rule)) });
  return (
    <Stack>
      <p className={classes.text}>{t(rules.length === 0 ? 'newJob.noRulesHint' : 'newJob.rulesHint')}</p>
      {refused !== undefined && (
        <p className={classes.refused} role="alert">
          {refused}
        </p>
      )}
      {rules.map((rule, index) => (
        <RuleEditor
          key={index}
          index={index}
          rule={rule}
          onChange={(changed) => set(index, changed)}
          onRemove={() => change({ rules: rules.filter((_, at) => at !== index) })}
        />
      ))}
      {rules.length < rulesMax && (
        <ActButton
          icon={IconPlus}
          onClick={() => change({ rules: [...rules, usualRule] })}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('newJob.addRule')}
        </ActButton>
      )}
    </Stack>
  );
}
