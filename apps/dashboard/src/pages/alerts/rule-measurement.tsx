/** What a rule about measurements looks at: a path, and on which side of the threshold it fires. */
import { Autocomplete, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { type AlertRuleInput, AlertPathsDocument } from './generated/alerts';

interface RuleMeasurementProps {
  readonly input: AlertRuleInput;
  readonly onChange: (changes: Partial<AlertRuleInput>) => void;
}

export function RuleMeasurement({ input, onChange }: RuleMeasurementProps) {
  const { t } = useTranslation();
  const { data } = useHubQuery({ query: AlertPathsDocument, variables: {} });
  return (
    <>
      <Autocomplete
        label={t('alerts.rule.path')}
        description={t('alerts.rule.pathHint')}
        data={[...(data?.fleetMeasurementPaths ?? [])]}
        value={input.path ?? ''}
        onChange={(path) => onChange({ path })}
        limit={50}
        required
      />
      <Switch
        label={t('alerts.rule.below')}
        checked={input.below ?? false}
        onChange={(event) => onChange({ below: event.currentTarget.checked })}
      />
    </>
  );
}
