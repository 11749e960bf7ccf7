/** How often the rule would have fired in the last seven days, or why the hub does not know. */
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useClient } from 'urql';
import { type AlertRuleInput, PreviewAlertRuleDocument, type PreviewAlertRuleQuery } from './generated/alerts';

/** Ms without a change of the form before the hub is asked. */
const settleMs = 600;
/** Room for its longest text: a text that comes must not move the button below under a click. */
const room = { minHeight: '3lh', margin: 0 };

export function RulePreview({ input }: { readonly input: AlertRuleInput }) {
  const { t } = useTranslation();
  const client = useClient();
  const [preview, setPreview] = useState<PreviewAlertRuleQuery['previewAlertRule']>();
  // A rule without a name can be previewed, too.
  const wanted = JSON.stringify({ ...input, name: 'Preview', channelIds: [] });
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      const variables = { input: JSON.parse(wanted) as AlertRuleInput };
      const asked = client.query(PreviewAlertRuleDocument, variables, { requestPolicy: 'network-only' }).toPromise();
      void asked.then(({ data }) => {
        if (isCurrent) setPreview(data?.previewAlertRule);
      });
    }, settleMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, wanted]);
  const { firedCount } = preview ?? {};
  return (
    <p className="soft" role="status" style={room}>
      {typeof firedCount === 'number' && t('alerts.rule.wouldHaveFired', { count: firedCount })}
      {typeof firedCount === 'number' && preview?.note && ` ${t('alerts.rule.fromRollUps')}`}
      {firedCount === null && (preview?.userErrors[0]?.message ?? t('alerts.rule.noHistory'))}
    </p>
  );
}
