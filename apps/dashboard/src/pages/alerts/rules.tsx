/** The rules of alerts. */
import { useState } from 'react';
import { Button, Group, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useFleetScope, useIsLimited, useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useReadNow } from '../../hub/use-read-now';
import { aboutDuration } from '../../parts/time/about-duration';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { LoadFailure, MutationFailureNotice } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { FilterText } from '../devices/filter-text';
import {
  type EditedRuleFragment,
  AlertRulesNowDocument,
  type ChannelFieldsFragment,
  DeleteAlertRuleDocument,
  SnoozeAlertRuleDocument,
  UpdateAlertRuleDocument,
} from './generated/alerts';
import { RuleDialog } from './rule-dialog';
import { inputOfRule } from './rule-input';
import { kindsWithoutDevices, thresholdText } from './rule-kinds';
import { snoozeEnd } from './snooze-end';

interface RulesProps {
  readonly rules: readonly EditedRuleFragment[];
  readonly channels: readonly ChannelFieldsFragment[];
  readonly onChanged: () => void;
}

export function Rules({ rules, channels, onChanged }: RulesProps) {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const isLimited = useIsLimited();
  const [edited, setEdited] = useState<EditedRuleFragment | 'new'>();
  return (
    <>
      {isAdmin && (
        <Group>
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEdited('new')}>
            {t('alerts.rule.add')}
          </Button>
        </Group>
      )}
      {!isLimited && channels.length === 0 && <p className="soft">{t('alerts.rule.noChannels')}</p>}
      {rules.map((rule) => (
        <RuleCard key={rule.id} rule={rule} onEdit={() => setEdited(rule)} onChanged={onChanged} />
      ))}
      {edited && (
        <RuleDialog
          rule={edited === 'new' ? undefined : edited}
          channels={channels}
          onClose={() => setEdited(undefined)}
          onSaved={onChanged}
        />
      )}
    </>
  );
}

interface RuleCardProps {
  readonly rule: EditedRuleFragment;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

function RuleCard({ rule, onEdit, onChanged }: RuleCardProps) {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const maySnooze = useFleetScope('DEVICES_WRITE');
  const [isLeaving, setLeaving] = useState(false);
  const update = useHubMutation(UpdateAlertRuleDocument, (data) => data.updateAlertRule.userErrors);
  const snooze = useHubMutation(SnoozeAlertRuleDocument, (data) => data.snoozeAlertRule.userErrors);
  const remove = useHubMutation(DeleteAlertRuleDocument, (data) => data.deleteAlertRule.userErrors);
  const isSnoozed = rule.snoozedUntil !== null && Date.parse(rule.snoozedUntil) > Date.now();
  const now = useReadNow(AlertRulesNowDocument);
  const setEnabled = async (enabled: boolean) => {
    snooze.reset();
    const read = await now.read({});
    if (read === undefined) return;
    const latest = read.alertRules.find(({ id }) => id === rule.id);
    const input = latest && { ...inputOfRule(latest), enabled };
    if (input) await update.run({ id: rule.id, input, revision: latest.revision });
    onChanged();
  };
  const setSnoozed = async () => {
    update.reset();
    if (await snooze.run({ id: rule.id, until: snoozeEnd(isSnoozed, Date.now()) })) onChanged();
  };
  return (
    <Section
      title={rule.name}
      actions={
        <Group gap="xs">
          {isAdmin && (
            <Switch
              label={t('alerts.rule.enabled')}
              checked={rule.enabled}
              disabled={update.isBusy}
              onChange={(event) => void setEnabled(event.currentTarget.checked)}
            />
          )}
          {maySnooze && (
            <Button size="xs" variant="default" onClick={() => void setSnoozed()}>
              {t(isSnoozed ? 'alerts.rule.wake' : 'alerts.rule.snooze')}
            </Button>
          )}
          {isAdmin && (
            <>
              <Button size="xs" variant="default" onClick={onEdit}>
                {t('alerts.rule.edit')}
              </Button>
              <Button size="xs" variant="default" onClick={() => setLeaving(true)}>
                {t('alerts.rule.delete')}
              </Button>
            </>
          )}
        </Group>
      }
    >
      {now.error && <LoadFailure error={now.error} />}
      <MutationFailureNotice failure={update.failure ?? snooze.failure} />
      <RuleFacts rule={rule} isSnoozed={isSnoozed} />
      <ConfirmMutation
        mutation={remove}
        variables={isLeaving ? { id: rule.id } : undefined}
        title={t('alerts.rule.deleteTitle')}
        text={t('alerts.rule.deleteText', { name: rule.name })}
        act={t('alerts.rule.delete')}
        keep={t('keep.rule')}
        onClose={() => setLeaving(false)}
        onDone={onChanged}
      />
    </Section>
  );
}

function RuleFacts({ rule, isSnoozed }: Pick<RuleCardProps, 'rule'> & { readonly isSnoozed: boolean }) {
  const { i18n, t } = useTranslation();
  const { below, channels, devices, firingCount, forSeconds, kind, path, severity, snoozedUntil, threshold } = rule;
  const isLimited = useIsLimited();
  const limit = kind !== 'MEASUREMENT' ? 'thresholdIs' : below ? 'belowIs' : 'aboveIs';
  // The hub shows neither devices nor channels to a limited key.
  const facts = [
    !kindsWithoutDevices.has(kind) && (!isLimited || devices !== null) && (
      <>
        {t('alerts.rule.devices') + t('mark.colon')}
        {devices === null ? t('alerts.rule.all') : <FilterText filter={devices} />}
      </>
    ),
    (!isLimited || channels.length > 0) &&
      [
        t('alerts.rule.channels'),
        channels.map(({ name }) => name).join(t('mark.listed')) || t('alerts.rule.none'),
      ].join(t('mark.colon')),
    isSnoozed && (
      <>
        {t('alerts.rule.snoozedUntil')} <Time at={snoozedUntil} />
      </>
    ),
  ].filter(Boolean);
  return (
    <>
      <p className="soft">
        {t(`alerts.kind.${kind}`)} · {t(`alerts.badge.${severity}`)}
        {path !== null && (
          <>
            {' · '}
            <code>{path}</code>
          </>
        )}
        {threshold !== null &&
          ` · ${t(`alerts.rule.${limit}`, { threshold: thresholdText(kind, threshold, i18n.language) })}`}
        {forSeconds > 0 && ` · ${t('alerts.rule.forIs', { duration: aboutDuration(forSeconds, i18n.language) })}`}
        {' · '}
        {t('alerts.rule.firing', { count: firingCount })}
      </p>
      {facts.length > 0 && (
        <p className="soft">
          {facts.map((fact, index) => (
            <span key={index}>
              {index > 0 && ' · '}
              {fact}
            </span>
          ))}
        </p>
      )}
    </>
  );
}
