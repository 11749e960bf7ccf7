/** A rule that stops a job, in words. */
import { useTranslation } from 'react-i18next';
import type { OutcomeOrStage } from '../outcome/outcome-badge';

interface WordedRule {
  readonly outcomes: readonly OutcomeOrStage[];
  readonly scope: 'WAVE' | 'JOB';
  readonly action: 'PAUSE' | 'CANCEL';
  readonly ratio?: number | null;
  readonly count?: number | null;
  readonly minDecided?: number | null;
}

export function useRuleText(): (rule: WordedRule) => string {
  const { t, i18n } = useTranslation();
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 });
  const list = new Intl.ListFormat(i18n.language, { type: 'disjunction' });
  return ({ outcomes, scope, action, ratio = null, count = null, minDecided = null }) => {
    const bounds: string[] = [];
    if (ratio !== null && minDecided === null) bounds.push(t('rule.share', { share: percent.format(ratio) }));
    if (ratio !== null && minDecided !== null)
      bounds.push(t('rule.shareAfter', { share: percent.format(ratio), count: minDecided }));
    if (count !== null) bounds.push(t('rule.count', { count }));
    return t(`rule.text.${action}_${scope}`, {
      least: list.format(bounds),
      outcomes: list.format(outcomes.map((outcome) => t(`outcome.${outcome}`))),
    });
  };
}
