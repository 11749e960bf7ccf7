/** Changes the name and the times of a schedule. What it does stays. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { cronOf, scheduleOf } from '../../parts/schedule/schedule';
import { RepeatFields, type Repeat } from '../../parts/schedule/repeat-fields';
import { UpdateRecurringJobDocument, type RecurringJobCardFragment } from './generated/recurring';
import { inputOfCard } from './recurring-input';

export interface EditScheduleProps {
  readonly job: RecurringJobCardFragment;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function EditSchedule({ job, onClose, onSaved }: EditScheduleProps) {
  const { t } = useTranslation();
  const [repeat, setRepeat] = useState<Repeat>({ ...job, schedule: scheduleOf(job.cron) });
  const update = useHubMutation(UpdateRecurringJobDocument, (data) => data.updateRecurringJob.userErrors);
  const cron = cronOf(repeat.schedule);
  const save = async () => {
    const { name, timeZone, missed, overlap } = repeat;
    const changes = { name: name.trim(), cron, timeZone, missed, overlap };
    if (!(await update.run({ id: job.id, input: { ...inputOfCard(job), ...changes } }))) return;
    onSaved();
    onClose();
  };
  return (
    <Dialog title={t('recurring.edit')} onClose={onClose} size="lg" isSticky>
      <DialogForm
        action={t('common.save')}
        onSubmit={save}
        onCancel={onClose}
        mutations={[update]}
        isDisabled={cron === '' || repeat.name.trim() === ''}
      >
        <RepeatFields repeat={repeat} onChange={setRepeat} />
      </DialogForm>
    </Dialog>
  );
}
