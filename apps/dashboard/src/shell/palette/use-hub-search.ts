/** Asks the hub for things by text, one page per kind, after a pause in typing. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useDebouncedValue } from '@mantine/hooks';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { type Client, useClient } from 'urql';
import { useViewer } from '../../hub/hub';
import { jobName } from '../../parts/job/job-name';
import {
  type FoundByKind,
  type FoundPages,
  type FoundThing,
  type HubKind,
  hubKinds,
  searchMin,
  withPage,
} from './found-groups';
import {
  PaletteDevicesDocument,
  type PaletteDevicesQuery,
  PaletteGroupsDocument,
  PaletteImagesDocument,
  PaletteJobsDocument,
} from './generated/palette';

/** Ms after the last key before the hub is asked. */
const typingMs = 200;
const firstPage = 5;
const furtherPage = 20;

interface HubSearch {
  readonly found: FoundByKind;
  readonly isBusy: boolean;
  readonly hasFailed: boolean;
  /** Reads the next page of a kind. */
  readonly readMore: (kind: HubKind) => void;
}

export function useHubSearch(typed: string): HubSearch {
  const client = useClient();
  const read = useReaders();
  const { scopes } = useViewer();
  const [search] = useDebouncedValue(typed.trim(), typingMs);
  const [found, setFound] = useState<FoundByKind>({});
  const [isBusy, setBusy] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  /** Answers to an earlier text have no effect. */
  const turn = useRef(0);

  const ask = useCallback(
    async (kinds: readonly HubKind[], first: number, afterOf: (kind: HubKind) => string | null) => {
      const mine = turn.current;
      setBusy(true);
      const pages = await Promise.all(
        kinds.map(async (kind) => [kind, await read[kind](client, { search, first, after: afterOf(kind) })] as const),
      );
      if (mine !== turn.current) return;
      setBusy(false);
      setFailed(pages.some(([, page]) => page === undefined));
      setFound((known) => {
        const added = pages.flatMap(([kind, page]) =>
          page === undefined ? [] : [[kind, withPage(known[kind], page)]],
        );
        return { ...known, ...(Object.fromEntries(added) as FoundByKind) };
      });
    },
    [client, read, search],
  );
  useEffect(() => {
    turn.current += 1;
    setFound({});
    setBusy(false);
    setFailed(false);
    if (search.length < searchMin) return;
    const mayRead = (kind: HubKind) =>
      scopes.includes('ADMIN') || scopes.includes(kind === 'jobs' ? 'JOBS_READ' : 'DEVICES_READ');
    void ask(hubKinds.filter(mayRead), firstPage, () => null);
  }, [ask, scopes, search]);
  const readMore = (kind: HubKind) => void ask([kind], furtherPage, () => found[kind]?.after ?? null);
  return { found, isBusy: isBusy || search !== typed.trim(), hasFailed, readMore };
}

interface PageVariables {
  readonly search: string;
  readonly first: number;
  readonly after: string | null;
}

/** Undefined if the hub did not answer. */
type Reader = (client: Client, variables: PageVariables) => Promise<FoundPages | undefined>;

/** The same object as long as the language is the same: a new one would ask again. */
function useReaders(): Readonly<Record<HubKind, Reader>> {
  const { t } = useTranslation();
  return useMemo(() => readersIn(t), [t]);
}

function readersIn(t: TFunction): Readonly<Record<HubKind, Reader>> {
  return {
    devices: async (client, variables) => {
      const { data } = await client.query(PaletteDevicesDocument, variables, fresh).toPromise();
      return data && pageOf(data.devices, deviceIn(t));
    },
    jobs: async (client, variables) => {
      const { data } = await client.query(PaletteJobsDocument, variables, fresh).toPromise();
      return (
        data &&
        pageOf(data.jobs, (job) => ({
          id: job.id,
          text: jobName(job),
          detail: t(`jobState.${job.state === 'FINISHED' ? (job.conclusion ?? 'SUCCEEDED') : job.state}`),
        }))
      );
    },
    groups: async (client, variables) => {
      const { data } = await client.query(PaletteGroupsDocument, variables, fresh).toPromise();
      return data && pageOf(data.deviceGroups, ({ id, name }) => ({ id, text: name }));
    },
    images: async (client, variables) => {
      const { data } = await client.query(PaletteImagesDocument, variables, fresh).toPromise();
      return (
        data &&
        pageOf(data.firmwareImages, ({ id, project, version, models }) => ({
          id,
          text: `${project} ${version}`,
          detail: models.join(', '),
        }))
      );
    },
  };
}

type FoundDevice = PaletteDevicesQuery['devices']['nodes'][number];

function deviceIn(t: TFunction): (device: FoundDevice) => FoundThing {
  return ({ id, name, model, presence }) => ({
    id,
    text: name ?? id,
    detail: [name === null ? null : id, model, t(`presence.${presence}`)].filter(Boolean).join(' · '),
  });
}

const fresh = { requestPolicy: 'network-only' } as const;

interface Listed<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

function pageOf<Node>({ nodes, pageInfo }: Listed<Node>, thingOf: (node: Node) => FoundThing): FoundPages {
  return { things: nodes.map(thingOf), after: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}
