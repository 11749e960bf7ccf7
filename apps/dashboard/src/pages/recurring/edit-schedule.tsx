/** Changes the name and the times of a schedule. What it does stays. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useReadNow } from '../../hub/use-read-now';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { LoadFailure } from '../../parts/failure';
import { cronOf, scheduleOf } from '../../parts/schedule/schedule';
import { RepeatFields, type Repeat } from '../../parts/schedule/repeat-fields';
import {
  RecurringJobNowDocument,
  UpdateRecurringJobDocument,
  type RecurringJobCardFragment,
} from './generated/recurring';
import { changesOf, inputOfCard } from './recurring-input';

interface EditScheduleProps {
  readonly job: RecurringJobCardFragment;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function EditSchedule({ job, onClose, onSaved }: EditScheduleProps) {
  const { t } = useTranslation();
  const [opened] = useState(job);
  const [repeat, setRepeat] = useState<Repeat>({ ...job, schedule: scheduleOf(job.cron) });
  const now = useReadNow(RecurringJobNowDocument);
  const update = useHubMutation(UpdateRecurringJobDocument, (data) => data.updateRecurringJob.userErrors);
  const cron = cronOf(repeat.schedule);
  const save = async () => {
    const { name, timeZone, missed, overlap } = repeat;
    const before = inputOfCard(opened);
    const changes = changesOf(before, { ...before, name: name.trim(), cron, timeZone, missed, overlap });
    const read = await now.read({ id: opened.id });
    if (read === undefined) return;
    const latest = read.recurringJob ?? opened;
    const input = { ...inputOfCard(latest), ...changes };
    if (!(await update.run({ id: opened.id, input, revision: latest.revision }))) return;
    onSaved();
    onClose();
  };
  return (
    <Dialog title={t('recurring.edit')} onClose={onClose} size="lg">
      <DialogForm
        action={t('common.save')}
        onSubmit={save}
        onCancel={onClose}
        mutations={[update]}
        isDisabled={cron === '' || repeat.name.trim() === ''}
      >
        {now.error && <LoadFailure error={now.error} />}
        <RepeatFields repeat={repeat} onChange={setRepeat} />
      </DialogForm>
    </Dialog>
  );
}
