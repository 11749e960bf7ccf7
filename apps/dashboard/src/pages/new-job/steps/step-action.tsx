/** Which tool with which arguments, or which image. */
import { useMemo } from 'react';
import { SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMayCallInJobs, useMayRollOut } from '../../../hub/hub';
import { onlyAfter, usePages } from '../../../hub/lists/use-pages';
import { ArgumentsForm } from '../../../parts/arguments/arguments-form';
import { LoadFailure } from '../../../parts/failure';
import { CallTerms } from '../fields/call-terms';
import { JobImageChoicesDocument, type JobImageChoicesQuery } from '../generated/new-job';
import { kindsFor, missingIn, ofKind, withTool } from '../job-draft';
import { refusedAt, refusedIn } from '../refusals';
import { formKey, type ToolChoice } from '../fields/most-common-tools';
import { choicesAtOnce, useToolChoices } from '../fields/tool-choices';
import { toolProblem } from '../fields/tool-problem';
import { useDraftedArguments } from '../fields/use-drafted-arguments';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

export function StepAction() {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  const kinds = kindsFor(draft.kind, { tool: useMayCallInJobs(), firmware: useMayRollOut() });
  return (
    <Stack>
      {kinds.length > 1 && (
        <SegmentedControl
          aria-label={t('newJob.kind')}
          value={draft.kind}
          onChange={(kind) => change(ofKind(draft, kind as 'tool'))}
          data={kinds.map((value) => ({ value, label: t(`newJob.kinds.${value}`) }))}
          style={{ alignSelf: 'flex-start' }}
        />
      )}
      {draft.kind === 'tool' ? <ToolChoices /> : <ImageChoices />}
      <TextInput
        label={t('newJob.name')}
        description={t(draft.kind === 'tool' ? 'newJob.nameHint' : 'newJob.imageNameHint')}
        value={draft.name}
        maxLength={200}
        error={refusedAt(refusals, 'name')}
        onChange={(event) => change({ name: event.currentTarget.value })}
        maw={560}
      />
    </Stack>
  );
}

function ToolChoices() {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = useWizard();
  const { tools, hasMore, isLoading, error, refresh } = useToolChoices(draft);
  const chosen = tools.find(({ name }) => name === draft.tool);
  const list = { names: tools.map(({ name }) => name), isLoading, hasFailed: error !== undefined };
  const problem = isTried ? toolProblem(draft, list) : undefined;
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <Select
        label={t('newJob.tool')}
        description={hasMore && t('newJob.moreTools', { count: choicesAtOnce })}
        placeholder={t('newJob.toolHint')}
        searchable
        openOnFocus={false}
        data={tools.map(({ name, deviceCount }) => ({
          value: name,
          label: t('newJob.toolOn', { tool: name, count: deviceCount }),
        }))}
        value={draft.tool ?? null}
        onChange={(tool) => change(withTool(draft, tool ?? undefined))}
        nothingFoundMessage={t('device.noToolMatches')}
        error={(problem && t(`newJob.missing.${problem}`, { tool: draft.tool })) || refusedAt(refusals, 'tool')}
        maw={560}
      />
      {chosen && <ToolArguments key={formKey(chosen)} tool={chosen} />}
      {chosen && <CallTerms policy={chosen.policy} />}
    </>
  );
}

function ToolArguments({ tool }: { readonly tool: ToolChoice }) {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = useWizard();
  const state = useDraftedArguments(tool, draft, change);
  const refused = refusedIn(refusals, 'arguments');
  return (
    <>
      {tool.description !== '' && <p className={classes.text}>{tool.description}</p>}
      {tool.policy.disruptive && <p className={classes.warning}>{t('newJob.disruptive')}</p>}
      <ArgumentsForm state={state} isTried={isTried} />
      {refused !== undefined && (
        <p className={classes.refused} role="alert">
          {refused}
        </p>
      )}
    </>
  );
}

function ImageChoices() {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = useWizard();
  const { rows, error, hasMore, isLoading, refresh } = usePages({
    query: JobImageChoicesDocument,
    variables: onlyAfter,
    listOf: imagesOf,
    rowsAtOnce: choicesAtOnce,
  });
  const images = useMemo(
    () => rows.filter(({ publishedAt, withdrawnAt }) => publishedAt !== null && withdrawnAt === null),
    [rows],
  );
  const { firmwareImageId } = draft;
  const isMissing = isTried && missingIn('what', draft) === 'image';
  const isRead = !isLoading && !error && !hasMore;
  const isUnknown = isRead && firmwareImageId !== undefined && !images.some(({ id }) => id === firmwareImageId);
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <Select
        label={t('newJob.image')}
        description={hasMore && t('newJob.moreImages', { count: choicesAtOnce })}
        placeholder={t(images.length === 0 && !isLoading && !error ? 'newJob.noImages' : 'newJob.imageHint')}
        searchable
        openOnFocus={false}
        nothingFoundMessage={t('newJob.noImageMatches')}
        data={images.map(({ id, project, version, models }) => ({
          value: id,
          label: `${project} ${version}${t('mark.open')}${models.join(t('mark.listed'))}${t('mark.close')}`,
        }))}
        value={firmwareImageId ?? null}
        onChange={(id) => change({ firmwareImageId: id ?? undefined })}
        error={
          (isMissing && t('newJob.missing.image')) ||
          (isUnknown && t('newJob.missing.knownImage')) ||
          refusedAt(refusals, 'firmwareImageId')
        }
        maw={560}
      />
      <p className={classes.text}>{t('newJob.imageVerified')}</p>
    </>
  );
}

const imagesOf = ({ firmwareImages }: JobImageChoicesQuery) => firmwareImages;
