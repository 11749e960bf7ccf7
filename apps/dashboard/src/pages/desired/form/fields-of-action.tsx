/** The tool and its arguments. It offers tools whose effect can be read back and repeated. */
import { useMemo } from 'react';
import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ArgumentsForm } from '../../../parts/arguments/arguments-form';
import { LoadFailure } from '../../../parts/failure';
import { Json } from '../../../parts/json';
import { formKey, type ToolChoice } from '../../new-job/fields/most-common-tools';
import { choicesAtOnce, useToolChoices } from '../../new-job/fields/tool-choices';
import { toolProblem } from '../../new-job/fields/tool-problem';
import { useDraftedArguments } from '../../new-job/fields/use-drafted-arguments';
import { refusedAt, refusedIn } from '../../new-job/refusals';
import type { DesiredFields } from './desired-fields';
import { canBeKept } from './can-be-kept';
import formClasses from '../../new-job/new-job.module.css';

export function FieldsOfAction(fields: DesiredFields) {
  const { t } = useTranslation();
  const { draft, change, refusals, isTried } = fields;
  const { tools, hasMore, isLoading, error, refresh } = useToolChoices({
    ids: undefined,
    devices: draft.devices,
    isWholeFleet: false,
  });
  const offered = useMemo(() => tools.filter(({ policy }) => canBeKept(policy)), [tools]);
  const chosen = offered.find(({ name }) => name === draft.tool);
  const names = offered.map(({ name, deviceCount }) => ({
    value: name,
    label: t('newJob.toolOn', { tool: name, count: deviceCount }),
  }));
  const unknown = draft.tool !== undefined && chosen === undefined ? [{ value: draft.tool, label: draft.tool }] : [];
  const list = { names: offered.map(({ name }) => name), isLoading, hasFailed: error !== undefined };
  const problem = isTried ? toolProblem(draft, list) : undefined;
  return (
    <>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <Select
        label={t('newJob.tool')}
        description={hasMore ? t('newJob.moreTools', { count: choicesAtOnce }) : t('desired.toolHint')}
        placeholder={t('newJob.toolHint')}
        searchable
        openOnFocus={false}
        data={[...names, ...unknown]}
        value={draft.tool ?? null}
        onChange={(tool) => change({ tool: tool ?? undefined, arguments: undefined, isSound: false })}
        nothingFoundMessage={t('device.noToolMatches')}
        error={(problem && t(`newJob.missing.${problem}`, { tool: draft.tool })) || refusedAt(refusals, 'tool')}
        maw={560}
      />
      {chosen && <ToolArguments key={formKey(chosen)} tool={chosen} {...fields} />}
      {unknown.length > 0 && draft.isSound && <Json value={draft.arguments} label={t('tool.arguments')} />}
    </>
  );
}

function ToolArguments({ tool, draft, change, refusals, isTried }: DesiredFields & { readonly tool: ToolChoice }) {
  const { t } = useTranslation();
  const state = useDraftedArguments(tool, draft, change);
  const refused = refusedIn(refusals, 'arguments');
  const { readback } = tool.policy;
  return (
    <>
      <ArgumentsForm state={state} isTried={isTried} />
      {readback !== null && (
        <p className={formClasses.hint}>{t('desired.readback', { tool: readback.tool, path: readback.path })}</p>
      )}
      {refused !== undefined && (
        <p className={formClasses.refused} role="alert">
          {refused}
        </p>
      )}
    </>
  );
}
