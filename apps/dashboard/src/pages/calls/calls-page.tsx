/** Calls of the whole fleet, such as those that failed last week, with a filter in the address. */
import { useMemo, useState } from 'react';
import { MultiSelect, Select } from '@mantine/core';
import { IconDownload, IconTool } from '@tabler/icons-react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { saveFile } from '../../hub/send-file';
import { ActButton } from '../../parts/act-button';
import { CallList } from '../../parts/calls/call-list';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { useNotify } from '../../parts/use-notify';
import { SearchField } from '../../parts/search/search-field';
import { callFileOf, callFilterOf, callOutcomes, type CallSearch, parseCallSearch, spans } from './call-search';
import classes from './calls-page.module.css';

const route = getRouteApi('/calls');

export function CallsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const written = JSON.stringify(search);
  // A time span counts from the moment in which it was chosen, so that pages follow each other.
  const filter = useMemo(() => callFilterOf(JSON.parse(written) as CallSearch, Date.now()), [written]);
  return (
    <Page title={t('calls.title')} lead={t('calls.lead')} actions={<Export search={search} />}>
      <Conditions search={search} />
      <CallList
        filter={filter}
        label={t('calls.title')}
        empty={
          <Empty icon={IconTool} title={t('calls.empty')}>
            {t('calls.emptyHint')}
          </Empty>
        }
      />
    </Page>
  );
}

function Export({ search }: { readonly search: CallSearch }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [isSaving, setSaving] = useState(false);
  const save = async () => {
    setSaving(true);
    const isSaved = await saveFile(callFileOf(search, Date.now()), 'calls.csv');
    setSaving(false);
    if (!isSaved) notify(t('calls.notExported'));
  };
  return (
    <ActButton icon={IconDownload} loading={isSaving} onClick={() => void save()}>
      {t('calls.export')}
    </ActButton>
  );
}

function Conditions({ search }: { readonly search: CallSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/calls' });
  const change = (changes: Readonly<Record<string, unknown>>) =>
    void navigate({ search: (now) => parseCallSearch({ ...now, ...changes }), replace: true });
  return (
    <div className={classes.conditions}>
      <MultiSelect
        label={t('calls.outcomes')}
        placeholder={search.outcomes === undefined ? t('calls.allOutcomes') : ''}
        data={callOutcomes.map((value) => ({ value, label: t(`outcome.${value}`) }))}
        value={[...(search.outcomes ?? [])]}
        onChange={(outcomes) => change({ outcomes })}
        clearable
        flex="1 1 260px"
        maw={420}
      />
      <Select
        label={t('calls.time')}
        data={[
          { value: 'all', label: t('calls.span.all') },
          ...spans.map((hours) => ({ value: String(hours), label: t(`calls.span.h${hours}`) })),
        ]}
        value={String(search.hours ?? 'all')}
        onChange={(hours) => change({ hours: hours ?? 'all' })}
        allowDeselect={false}
        flex="1 1 150px"
        maw={190}
      />
      <SearchField
        label={t('calls.tool')}
        placeholder={t('calls.toolHint')}
        value={search.tool ?? ''}
        onChange={(tool) => change({ tool })}
        flex="1 1 200px"
        maw={280}
      />
      <SearchField
        label={t('calls.device')}
        placeholder={t('calls.deviceHint')}
        value={search.device ?? ''}
        onChange={(device) => change({ device })}
        flex="1 1 200px"
        maw={280}
      />
    </div>
  );
}
