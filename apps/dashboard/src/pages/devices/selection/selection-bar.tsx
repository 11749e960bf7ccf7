/** What can be done with the selected devices, at the lower edge, where a thumb reaches it. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import {
  type Icon,
  IconBookmark,
  IconPlayerPlay,
  IconRouteAltLeft,
  IconTags,
  IconTrash,
  IconX,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useFleetScope, useMayCallInJobs, useMayRollOut, useMayStartJobs, useScope, useViewer } from '../../../hub/hub';
import { newDraftId, writeDraft } from '../../new-job/draft-store';
import { draftFrom } from '../../new-job/job-draft';
import { type DeviceConditions, isForListsOnly } from '../device-search';
import { GroupDialog } from '../group-dialog';
import { TagDialog } from '../tag-dialog';
import { RemoveDialog } from './remove-dialog';
import {
  allDevices,
  conditionsOfSelection,
  countOf,
  type DeviceSelection,
  filterOfSelection,
  isWithinLimit,
  noDevices,
} from './selection';
import classes from './selection.module.css';
import { TransportDialog } from './transport-dialog';

interface SelectionBarProps {
  readonly selection: DeviceSelection;
  readonly onSelect: (selection: DeviceSelection) => void;
  /** The filter of the list, and how many devices match it. */
  readonly conditions: DeviceConditions;
  readonly matching: number;
  /** Devices changed. */
  readonly onChanged: () => void;
}

type Asked = 'tag' | 'group' | 'transport' | 'remove';

export function SelectionBar({ selection, onSelect, conditions, matching, onChanged }: SelectionBarProps) {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<Asked>();
  const count = countOf(selection, matching);
  const close = () => setAsked(undefined);
  const filter = filterOfSelection(selection, conditions);
  const isOnlySeen = isForListsOnly(conditions);
  if (count === 0) return null;
  return (
    <>
      <div className={classes.room} />
      <section className={classes.bar} aria-label={t('selection.title')}>
        <div className={classes.what}>
          <strong role="status">{t('selection.count', { count })}</strong>
          {!selection.isAll && !isOnlySeen && matching > count && (
            <Button variant="subtle" size="compact-sm" className={classes.more} onClick={() => onSelect(allDevices)}>
              {t('selection.all', { count: matching })}
            </Button>
          )}
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            className={classes.more}
            leftSection={<IconX size={16} aria-hidden />}
            onClick={() => onSelect(noDevices)}
          >
            {t('selection.clear')}
          </Button>
        </div>
        {isWithinLimit(selection) ? (
          <Acts selection={selection} conditions={conditions} count={count} onAsk={setAsked} />
        ) : (
          <p className={classes.limit}>{t(isOnlySeen ? 'selection.tooManyOutOfSync' : 'selection.tooMany')}</p>
        )}
      </section>
      {asked === 'tag' && <TagDialog filter={filter} count={count} onClose={close} onTagged={onChanged} />}
      {asked === 'group' && <GroupDialog group="new" filter={filter} onClose={close} />}
      {asked === 'transport' && <TransportDialog filter={filter} onClose={close} onDone={onChanged} />}
      {asked === 'remove' && (
        <RemoveDialog
          filter={filter}
          onClose={close}
          onDone={() => {
            onSelect(noDevices);
            onChanged();
          }}
        />
      )}
    </>
  );
}

interface ActsProps extends Pick<SelectionBarProps, 'selection' | 'conditions'> {
  readonly count: number;
  readonly onAsk: (asked: Asked) => void;
}

function Acts({ selection, conditions, count, onAsk }: ActsProps) {
  const { t } = useTranslation();
  const [mayWrite, mayGroup, mayStart] = [useScope('DEVICES_WRITE'), useFleetScope('DEVICES_WRITE'), useMayStartJobs()];
  const navigate = useNavigate();
  const viewer = useViewer().name;
  const may = { tool: useMayCallInJobs(), firmware: useMayRollOut() };
  const chosen = conditionsOfSelection(selection, conditions);
  // The selection may have a thousand ids, which no address takes: the draft has them.
  const startJob = () => {
    const draft = newDraftId();
    const { ids, ...others } = chosen ?? {};
    const begun = draftFrom(selection.isAll ? { devices: chosen ?? {} } : { devices: others, ids: ids ?? [] }, may);
    writeDraft(sessionStorage, { id: draft, viewer }, { ...begun, isWholeFleet: chosen === undefined });
    void navigate({ to: '/jobs/new', search: { draft } });
  };
  const isGroup = selection.isAll && conditions.groupId !== undefined;
  return (
    <div className={classes.acts}>
      {mayWrite && (
        <Act
          icon={IconTags}
          text={t('selection.tag')}
          label={t('devices.tagAct', { count })}
          onClick={() => onAsk('tag')}
        />
      )}
      {/* A group has conditions, and no other group. */}
      {mayGroup && !isGroup && (
        <Act
          icon={IconBookmark}
          text={t('selection.group')}
          label={t('selection.groupAct', { count })}
          onClick={() => onAsk('group')}
        />
      )}
      {mayWrite && (
        <Act
          icon={IconRouteAltLeft}
          text={t('selection.transport')}
          label={t('selection.transportAct', { count })}
          onClick={() => onAsk('transport')}
        />
      )}
      {mayWrite && (
        <Act
          icon={IconTrash}
          text={t('selection.remove')}
          label={t('selection.removeAct', { count })}
          onClick={() => onAsk('remove')}
        />
      )}
      {mayStart && (
        <Act
          icon={IconPlayerPlay}
          text={t('selection.job')}
          label={t('devices.jobAct', { count })}
          isMain
          onClick={startJob}
        />
      )}
    </div>
  );
}

interface ActProps {
  readonly icon: Icon;
  readonly text: string;
  /** The whole act with its number, which begins with the text. */
  readonly label: string;
  readonly isMain?: boolean;
  readonly onClick: () => void;
}

function Act({ icon: Shape, text, label, isMain = false, onClick }: ActProps) {
  return (
    <Button
      variant={isMain ? 'filled' : 'default'}
      className={classes.act}
      aria-label={label}
      leftSection={<Shape size={18} aria-hidden />}
      onClick={onClick}
    >
      {text}
    </Button>
  );
}
