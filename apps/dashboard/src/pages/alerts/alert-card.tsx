/** One alert: what happened, where, since when, and who takes care of it. */
import { useState } from 'react';
import { Button, Group, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { AlertBadge } from '../../parts/alert/alert-badge';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { AcknowledgeAlertDocument, type AlertCardFragment } from './generated/alerts';

export interface AlertCardProps {
  readonly alert: AlertCardFragment;
  readonly onChanged: () => void;
}

export function AlertCard({ alert, onChanged }: AlertCardProps) {
  const { t } = useTranslation();
  const mayAcknowledge = useScope('DEVICES_WRITE');
  const [isAsked, setAsked] = useState(false);
  const { acknowledgedAt, acknowledgedBy, deviceCount, devices, firedAt, note, resolvedAt, rule, severity } = alert;
  const others = deviceCount - devices.length;
  return (
    <Section
      title={rule.name}
      actions={
        mayAcknowledge &&
        acknowledgedAt === null && (
          <Button size="xs" variant="default" onClick={() => setAsked(true)}>
            {t('alerts.acknowledge')}
          </Button>
        )
      }
    >
      <Group gap="xs">
        <AlertBadge severity={severity} isResolved={resolvedAt !== null} />
        <Link to="/alerts/$id" params={{ id: alert.id }}>
          {alert.summary}
        </Link>
      </Group>
      <p className="soft">
        {t('alerts.fired')} <Time at={firedAt} />
        {resolvedAt !== null && (
          <>
            {' · '}
            {t('alerts.resolved')} <Time at={resolvedAt} />
          </>
        )}
        {acknowledgedAt !== null && (
          <>
            {' · '}
            {t('alerts.acknowledgedBy', { name: acknowledgedBy ?? '' })} <Time at={acknowledgedAt} />
            {note !== null && `: ${note}`}
          </>
        )}
      </p>
      {devices.length > 0 && (
        <Group gap="xs">
          {devices.map(({ id, name }) => (
            <Link key={id} to="/devices/$id" params={{ id }}>
              {name ?? id}
            </Link>
          ))}
          {others > 0 && <span className="soft">{t('alerts.others', { count: others })}</span>}
        </Group>
      )}
      <Acknowledge id={alert.id} isOpen={isAsked} onClose={() => setAsked(false)} onDone={onChanged} />
    </Section>
  );
}

interface AcknowledgeProps {
  readonly id: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Acknowledge({ id, isOpen, onClose, onDone }: AcknowledgeProps) {
  const { t } = useTranslation();
  const [note, setNote] = useState('');
  const act = useHubMutation(AcknowledgeAlertDocument, (data) => data.acknowledgeAlert.userErrors);
  const submit = async () => {
    if (!(await act.run({ id, note: note.trim() === '' ? null : note.trim() }))) return;
    onClose();
    onDone();
  };
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('alerts.acknowledgeTitle')}>
      <DialogForm action={t('alerts.acknowledge')} onSubmit={submit} onCancel={onClose} mutations={[act]}>
        <TextInput
          label={t('alerts.note')}
          description={t('alerts.noteHint')}
          value={note}
          maxLength={1_000}
          onChange={(event) => setNote(event.currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  );
}
