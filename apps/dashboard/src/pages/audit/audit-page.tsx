/**
 * The audit trail, latest first. An entry expands to its details and the hash that links it to the
 * previous one.
 */
import { useCallback, useMemo, useState } from 'react';
import { Button, Code, Drawer, Group, Stack, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePages } from '../../hub/lists/use-pages';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { exactTimeWidth, Time } from '../../parts/time/time';
import { SearchField } from '../../parts/search/search-field';
import type { AuditSearch } from './audit-search';
import { subjectPage } from './subject-page';
import { AuditTrailDocument, type AuditTrailQuery } from './generated/audit';

type Entry = AuditTrailQuery['auditEntries']['edges'][number]['node'];

const route = getRouteApi('/audit');

export function AuditPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const variables = useCallback((after: string | null) => ({ filter: search, after }), [search]);
  const pages = usePages({ query: AuditTrailDocument, variables, listOf });
  const [opened, setOpened] = useState<Entry>();
  const columns = useColumns(setOpened);
  return (
    <Page title={t('audit.title')} lead={t('audit.lead')}>
      <Conditions search={search} />
      {pages.error && <LoadFailure error={pages.error} onRetry={pages.refresh} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error ? (
        <Empty icon={IconHistory} title={t('audit.empty')}>
          {t('audit.emptyHint')}
        </Empty>
      ) : (
        <DataTable
          label={t('audit.title')}
          columns={columns}
          rows={pages.rows}
          rowKey={({ id }) => id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      <EntryDrawer entry={opened} onClose={() => setOpened(undefined)} />
    </Page>
  );
}

const listOf = ({ auditEntries: { edges, pageInfo } }: AuditTrailQuery) => ({
  nodes: edges.map(({ node }) => node),
  pageInfo,
});

function Conditions({ search }: { readonly search: AuditSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/audit' });
  const change = (name: keyof AuditSearch, text: string) =>
    void navigate({ search: (now) => ({ ...now, [name]: text === '' ? undefined : text }), replace: true });
  return (
    <Group gap="sm" align="flex-end">
      {(['actor', 'action', 'subject'] as const).map((name) => (
        <SearchField
          key={name}
          label={t(`audit.${name}`)}
          placeholder={t(`audit.example.${name}`)}
          value={search[name] ?? ''}
          onChange={(text) => change(name, text)}
          flex="0 1 220px"
        />
      ))}
    </Group>
  );
}

function useColumns(onOpen: (entry: Entry) => void) {
  const { t } = useTranslation();
  return useMemo<readonly Column<Entry>[]>(
    () => [
      {
        id: 'sequence',
        header: t('audit.sequence'),
        width: 64,
        grow: 0,
        isNumeric: true,
        cell: ({ sequence }) => sequence,
      },
      {
        id: 'at',
        header: t('audit.at'),
        width: exactTimeWidth,
        grow: 0,
        cell: ({ at }) => <Time at={at} form="exact" />,
      },
      { id: 'actor', header: t('audit.actor'), width: 100, cell: ({ actor }) => actor },
      { id: 'action', header: t('audit.action'), width: 140, cell: ({ action }) => <code>{action}</code> },
      { id: 'subject', header: t('audit.subject'), width: 180, grow: 2, cell: (entry) => <Subject {...entry} /> },
      {
        id: 'address',
        header: t('audit.address'),
        width: 110,
        grow: 0,
        cell: ({ remoteAddress }) => remoteAddress ?? t('common.none'),
      },
      {
        id: 'open',
        header: '',
        width: 76,
        grow: 0,
        isStuck: true,
        cell: (entry) => (
          <Button size="compact-xs" variant="default" onClick={() => onOpen(entry)}>
            {t('audit.details')}
          </Button>
        ),
      },
    ],
    [t, onOpen],
  );
}

function Subject({ subject }: Pick<Entry, 'subject'>) {
  const page = subjectPage(subject);
  return page === undefined ? (
    <code>{subject}</code>
  ) : (
    <Link {...page}>
      <code>{subject}</code>
    </Link>
  );
}

function EntryDrawer({ entry, onClose }: { readonly entry: Entry | undefined; readonly onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened={entry !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={entry?.action}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {entry && (
        <Stack gap="md">
          <Text size="sm">
            {entry.actor} · <Subject {...entry} /> · <Time at={entry.at} form="full" />
          </Text>
          <Code block>{JSON.stringify(entry.data, null, 2)}</Code>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {t('audit.hash') + t('mark.colon')}
            <code>{entry.hash}</code>
          </Text>
        </Stack>
      )}
    </Drawer>
  );
}
