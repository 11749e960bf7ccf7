/** Makes a schedule of the job instead of starting it once. */
import { useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { attemptKey, endAttempt } from '../../hub/attempt-key';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { RepeatFields, type Repeat } from '../../parts/schedule/repeat-fields';
import { cronOf, defaultSchedule, scheduleNameOf } from '../../parts/schedule/schedule';
import { viewerZone } from '../../parts/zone/time-zones';
import { CreateRecurringJobDocument, type CreateJobInput } from './generated/new-job';

interface RepeatJobProps {
  readonly input: CreateJobInput;
  readonly onClose: () => void;
}

export function RepeatJob({ input, onClose }: RepeatJobProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [repeat, setRepeat] = useState<Repeat>({
    name: scheduleNameOf(input.name ?? ''),
    timeZone: viewerZone(),
    schedule: defaultSchedule,
    missed: 'SKIP',
    overlap: 'SKIP',
  });
  const create = useHubMutation(CreateRecurringJobDocument, (data) => data.createRecurringJob.userErrors);
  const cron = cronOf(repeat.schedule);
  const save = async () => {
    const { name, timeZone, missed, overlap } = repeat;
    const job = { ...input, startAt: null };
    const wanted = { name: name.trim(), cron, timeZone, missed, overlap, job };
    const key = attemptKey(sessionStorage, 'recurring-job', wanted);
    if (!(await create.run({ input: wanted, key }))) return;
    endAttempt(sessionStorage, 'recurring-job');
    void navigate({ to: '/recurring' });
  };
  return (
    <Dialog title={t('newJob.repeat')} onClose={onClose} size="lg">
      <DialogForm
        action={t('newJob.repeatSave')}
        onSubmit={save}
        onCancel={onClose}
        mutations={[create]}
        isDisabled={cron === '' || repeat.name.trim() === ''}
      >
        <p className="soft">{t('newJob.repeatHint')}</p>
        <RepeatFields repeat={repeat} onChange={setRepeat} />
      </DialogForm>
    </Dialog>
  );
}
