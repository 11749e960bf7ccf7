/** Which tool with which arguments, or which image. */
import { useEffect, useMemo } from 'react';
import { SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ArgumentsForm, useArguments } from '../../parts/arguments/arguments-form';
import { LoadFailure } from '../../parts/failure';
import { JobImageChoicesDocument, JobToolChoicesDocument, type JobToolChoicesQuery } from './generated/new-job';
import { deviceFilterOf, hasWhom } from './job-draft';
import type { StepProps } from './new-job-page';
import classes from './new-job.module.css';

type ToolChoice = JobToolChoicesQuery['tools']['nodes'][number];

export function StepWhat({ draft, change }: StepProps) {
  const { t } = useTranslation();
  return (
    <Stack>
      <TextInput
        label={t('newJob.name')}
        description={t('newJob.nameHint')}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        maw={420}
      />
      <SegmentedControl
        aria-label={t('newJob.kind')}
        value={draft.kind}
        onChange={(kind) => change({ kind: kind as 'tool' })}
        data={(['tool', 'firmware'] as const).map((value) => ({ value, label: t(`newJob.kinds.${value}`) }))}
        style={{ alignSelf: 'flex-start' }}
      />
      {draft.kind === 'tool' ? <ToolChoices draft={draft} change={change} /> : <ImageChoices draft={draft} change={change} />}
    </Stack>
  );
}

function ToolChoices({ draft, change }: StepProps) {
  const { t } = useTranslation();
  const { ids, devices } = draft;
  const isNarrowed = hasWhom(draft);
  const variables = useMemo(
    () => ({ filter: isNarrowed ? { devices: deviceFilterOf({ ids, devices }) } : null }),
    [isNarrowed, ids, devices],
  );
  const { data, error, refresh } = useHubQuery({ query: JobToolChoicesDocument, variables });
  const tools = useMemo(() => mostCommon(data?.tools.nodes ?? []), [data]);
  const chosen = tools.find(({ name }) => name === draft.tool);
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <Select
        label={t('newJob.tool')}
        placeholder={t('newJob.toolHint')}
        searchable
        data={tools.map(({ name, deviceCount }) => ({ value: name, label: t('newJob.toolOn', { tool: name, count: deviceCount }) }))}
        value={draft.tool ?? null}
        onChange={(tool) => change({ tool: tool ?? undefined, arguments: {}, isSound: false })}
        nothingFoundMessage={t('device.noToolMatches')}
        maw={560}
      />
      {chosen && <ToolArguments key={chosen.name} tool={chosen} draft={draft} change={change} />}
    </>
  );
}

function ToolArguments({ tool, draft, change }: StepProps & { readonly tool: ToolChoice }) {
  const { t } = useTranslation();
  const state = useArguments(tool, draft.arguments);
  const written = JSON.stringify(state.arguments);
  const { isSound } = state;
  useEffect(() => {
    change({ arguments: JSON.parse(written) as Record<string, unknown>, isSound });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `change` is made anew by each draft, which this makes.
  }, [written, isSound]);
  return (
    <>
      <p className={classes.text}>{tool.description}</p>
      {tool.policy.disruptive && <p className={classes.warning}>{t('newJob.disruptive')}</p>}
      <ArgumentsForm state={state} isTried={false} />
    </>
  );
}

function ImageChoices({ draft, change }: StepProps) {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: JobImageChoicesDocument, variables: {} });
  const images = (data?.firmwareImages.nodes ?? []).filter(({ publishedAt, withdrawnAt }) => publishedAt !== null && withdrawnAt === null);
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <Select
        label={t('newJob.image')}
        placeholder={t(images.length === 0 && data ? 'newJob.noImages' : 'newJob.imageHint')}
        data={images.map(({ id, project, version, models }) => ({ value: id, label: `${project} ${version} (${models.join(', ')})` }))}
        value={draft.firmwareImageId ?? null}
        onChange={(id) => change({ firmwareImageId: id ?? undefined })}
        maw={560}
      />
    </>
  );
}

/** One of each name, with the schema that most devices have; the hub checks each device's own. */
function mostCommon(tools: readonly ToolChoice[]): readonly ToolChoice[] {
  const byName = new Map<string, ToolChoice>();
  for (const tool of tools) {
    const known = byName.get(tool.name);
    const most = known && known.deviceCount > tool.deviceCount ? known : tool;
    byName.set(tool.name, { ...most, deviceCount: tool.deviceCount + (known?.deviceCount ?? 0) });
  }
  return [...byName.values()].sort((one, other) => one.name.localeCompare(other.name));
}
