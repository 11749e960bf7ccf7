/** Boards that move here from a former server, with the acts for those that are selected. */
import { useMemo, useState } from 'react';
import { Button, Group, SegmentedControl } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../../hub/use-hub-mutation';
import { LoadFailure, MutationFailureNotice } from '../../../parts/failure';
import { Section } from '../../../parts/page';
import { type Column, DataTable } from '../../../parts/table/data-table';
import type { Selection } from '../../../parts/table/row-selection';
import { Time } from '../../../parts/time/time';
import { useNotify } from '../../../parts/use-notify';
import { type ChosenBoards, moveInBatches, toggled, toggledAll, without } from './chosen-boards';
import { MoveBoardsBackDocument, MoveBoardsDocument } from './generated/moving';
import type { MovingBoard, MovingBoardsList, ShownState } from './use-moving-boards';

interface MovingBoardsProps extends MovingBoardsList {
  readonly shown: ShownState;
  readonly onShow: (shown: ShownState) => void;
  readonly mayDecide: boolean;
}

/** Nothing where no board has another server. */
export function MovingBoards({ boards, mayDecide, onShow, refresh, shown, summary }: MovingBoardsProps) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<ChosenBoards>(new Set());
  const columns = useColumns();
  if (summary === undefined) return null;
  const { hasFormerServer, moved, notMoved, unknown } = summary;
  if (!hasFormerServer && moved + notMoved + unknown === 0) return null;
  const counts = { ALL: moved + notMoved + unknown, MOVED: moved, NOT_MOVED: notMoved, UNKNOWN: unknown };
  const states = ['ALL', 'NOT_MOVED', 'MOVED', 'UNKNOWN'] as const;
  const show = (state: string) => {
    setChosen(new Set());
    onShow(state as ShownState);
  };
  return (
    <Section title={t('moving.title')}>
      <p className="soft">{t(hasFormerServer ? 'moving.text' : 'moving.textWithout')}</p>
      <Group justify="space-between" mb="sm">
        <SegmentedControl
          aria-label={t('moving.show')}
          value={shown}
          onChange={show}
          data={states.map((value) => ({ value, label: t(`moving.shown.${value}`, { count: counts[value] }) }))}
        />
        {mayDecide && (
          <MoveActs
            chosen={chosen}
            onMoved={(deviceIds) => {
              setChosen((now) => without(now, deviceIds));
              refresh();
            }}
          />
        )}
      </Group>
      {boards.error && <LoadFailure error={boards.error} onRetry={refresh} />}
      {boards.rows.length > 0 && (
        <DataTable
          label={t('moving.title')}
          columns={columns}
          rows={boards.rows}
          rowKey={({ deviceId }) => deviceId}
          {...(mayDecide && { selection: selectionOf(boards.rows, chosen, setChosen, t) })}
          hasMore={boards.hasMore}
          onEnd={boards.loadMore}
          rowsOf={shown}
          maxHeight="420px"
        />
      )}
    </Section>
  );
}

function selectionOf(
  rows: readonly MovingBoard[],
  chosen: ChosenBoards,
  setChosen: (change: (now: ChosenBoards) => ChosenBoards) => void,
  t: TFunction,
): Selection<MovingBoard> {
  return {
    isSelected: ({ deviceId }) => chosen.has(deviceId),
    toggle: ({ deviceId }) => setChosen((now) => toggled(now, deviceId)),
    toggleAll: (areAll) =>
      setChosen((now) =>
        toggledAll(
          now,
          rows.map(({ deviceId }) => deviceId),
          areAll,
        ),
      ),
    allLabel: t('moving.selectAll'),
    labelOf: ({ deviceId }) => t('moving.select', { device: deviceId }),
  };
}

interface MoveActsProps {
  readonly chosen: ChosenBoards;
  /** With those that were moved, which may be only a part. */
  readonly onMoved: (deviceIds: readonly string[]) => void;
}

function MoveActs({ chosen, onMoved }: MoveActsProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [hasMoved, setMoved] = useState(false);
  const here = useHubMutation(MoveBoardsDocument, (data) => data.moveBoards.userErrors);
  const back = useHubMutation(MoveBoardsBackDocument, (data) => data.moveBoardsBack.userErrors);
  const move = async (act: typeof here | typeof back, done: 'moving.moved' | 'moving.movedBack') => {
    here.reset();
    back.reset();
    const moved = await moveInBatches(chosen, async (deviceIds) => (await act.run({ deviceIds })) !== undefined);
    setMoved(moved.length > 0);
    if (moved.length === 0) return;
    notify(t(done, { count: moved.length }));
    onMoved(moved);
  };
  const isIdle = chosen.size === 0 || here.isBusy || back.isBusy;
  return (
    <>
      <Group gap="sm">
        <span className="soft figures" role="status">
          {chosen.size > 0 && t('selection.count', { count: chosen.size })}
        </span>
        <Button.Group>
          <Button size="xs" variant="default" disabled={isIdle} onClick={() => void move(here, 'moving.moved')}>
            {t('moving.move')}
          </Button>
          <Button size="xs" variant="default" disabled={isIdle} onClick={() => void move(back, 'moving.movedBack')}>
            {t('moving.moveBack')}
          </Button>
        </Button.Group>
      </Group>
      <MutationFailureNotice
        failure={here.failure ?? back.failure}
        refused={hasMoved ? t('moving.restRefused') : undefined}
      />
    </>
  );
}

function useColumns(): readonly Column<MovingBoard>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      { id: 'device', header: t('enrolments.device'), width: 150, cell: ({ deviceId }) => <code>{deviceId}</code> },
      {
        id: 'name',
        header: t('moving.formerName'),
        width: 170,
        cell: ({ formerAgent, formerName }) =>
          [formerName, formerAgent].filter(Boolean).join(' · ') || t('common.none'),
      },
      {
        id: 'state',
        header: t('moving.state'),
        width: 170,
        grow: 2,
        cell: ({ isHere, state }) => t(`moving.states.${state}.${isHere ? 'here' : 'there'}`),
      },
      {
        id: 'bound',
        header: t('moving.boundThere'),
        width: 100,
        cell: ({ boundThere }) => t(`moving.bound.${boundThere === null ? 'unknown' : boundThere ? 'yes' : 'no'}`),
      },
      { id: 'asked', header: t('moving.asked'), width: 100, cell: ({ askedAt }) => <Time at={askedAt} /> },
      { id: 'notes', header: t('moving.notes'), width: 170, grow: 2, cell: (row) => <Notes row={row} /> },
    ],
    [t],
  );
}

function Notes({ row: { attemptedAt, otherClientAt } }: { readonly row: MovingBoard }) {
  const { t } = useTranslation();
  if (attemptedAt !== null)
    return (
      <>
        {t('moving.attempted')} <Time at={attemptedAt} />
      </>
    );
  return otherClientAt === null ? t('common.none') : t('moving.otherClient');
}
