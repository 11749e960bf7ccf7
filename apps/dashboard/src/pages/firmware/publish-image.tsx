/** Says for which boards an image is, at first or more of them: it does not say so itself. */
import { useState } from 'react';
import { TagsInput, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useHubQuery } from '../../hub/use-hub-query';
import { useNotify } from '../../parts/use-notify';
import { FleetVersionsDocument, type ImageFragment, PublishImageDocument } from './generated/firmware';

interface PublishImageProps {
  readonly image: ImageFragment;
  /** For some boards already: these are added to them. */
  readonly isPublished: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function PublishImage({ image, isPublished, onClose, onDone }: PublishImageProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [models, setModels] = useState<string[]>(isPublished ? [] : [...image.models]);
  const [notes, setNotes] = useState(image.notes ?? '');
  const { data } = useHubQuery({ query: FleetVersionsDocument, variables: {} });
  const known = (data?.fleetSummary.models ?? []).flatMap(({ value }) =>
    value === null || (isPublished && image.models.includes(value)) ? [] : [value],
  );
  const act = useHubMutation(PublishImageDocument, (answer) => answer.publishFirmwareImage.userErrors);
  const publish = async () => {
    if (!(await act.run({ id: image.id, models, notes: notes.trim() || null }))) return;
    notify(t('firmware.published', { version: image.version }));
    onDone();
    onClose();
  };
  return (
    <Dialog
      onClose={onClose}
      title={t(isPublished ? 'firmware.addBoardsTitle' : 'firmware.publishTitle', { version: image.version })}
    >
      <DialogForm
        action={t(isPublished ? 'firmware.addBoards' : 'firmware.publish')}
        onSubmit={publish}
        onCancel={onClose}
        mutations={[act]}
        isDisabled={models.length === 0}
      >
        {isPublished && (
          <p className="soft">{t('firmware.boardsAlready', { boards: image.models.join(t('mark.listed')) })}</p>
        )}
        <TagsInput
          label={t('firmware.boards')}
          description={t('firmware.boardsHint')}
          data={known}
          value={models}
          onChange={setModels}
          acceptValueOnBlur
          data-autofocus
        />
        <Textarea
          label={t('firmware.notes')}
          value={notes}
          onChange={(event) => setNotes(event.currentTarget.value)}
          autosize
          minRows={2}
        />
      </DialogForm>
    </Dialog>
  );
}
