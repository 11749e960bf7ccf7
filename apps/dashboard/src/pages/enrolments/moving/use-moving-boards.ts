/** Boards of a former server and how many of them are where. */
import { useCallback } from 'react';
import { type Pages, usePages } from '../../../hub/lists/use-pages';
import { useHubQuery } from '../../../hub/use-hub-query';
import {
  MovingBoardsDocument,
  type MovingBoardsQuery,
  MovingSummaryDocument,
  type MovingSummaryQuery,
} from './generated/moving';

export type MovingBoard = MovingBoardsQuery['movingBoards']['nodes'][number];
export type ShownState = 'ALL' | MovingBoard['state'];

export interface MovingBoardsList {
  readonly boards: Pages<MovingBoard>;
  readonly summary: MovingSummaryQuery['movingSummary'] | undefined;
  readonly refresh: () => void;
}

export function useMovingBoards(shown: ShownState, refreshMs: number): MovingBoardsList {
  const variables = useCallback((after: string | null) => ({ after, state: shown === 'ALL' ? null : shown }), [shown]);
  const boards = usePages({ query: MovingBoardsDocument, variables, listOf, refreshMs });
  const { data, refresh: readSummary } = useHubQuery({ query: MovingSummaryDocument, variables: {}, refreshMs });
  const { refresh: readBoards } = boards;
  const refresh = useCallback(() => {
    readBoards();
    readSummary();
  }, [readBoards, readSummary]);
  return { boards, summary: data?.movingSummary, refresh };
}

const listOf = ({ movingBoards }: MovingBoardsQuery) => movingBoards;
