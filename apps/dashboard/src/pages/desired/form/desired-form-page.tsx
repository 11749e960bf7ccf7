/** A new desired state, or an edit, with a live preview of what saving would do. */
import { type FormEvent, useState } from 'react';
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { attemptKey, endAttempt } from '../../../hub/attempt-key';
import { useScope } from '../../../hub/hub';
import { useHubMutation } from '../../../hub/use-hub-mutation';
import { useFirstRead } from '../../../hub/use-read-now';
import { Empty } from '../../../parts/empty';
import { LoadFailure, MutationFailureNotice } from '../../../parts/failure';
import { LinkButton } from '../../../parts/link-button';
import { Page, Section } from '../../../parts/page';
import { useFocusProblem } from '../../../parts/validation/use-focus-problem';
import { PageForbidden } from '../../../shell/page-failure';
import { refusedAt } from '../../new-job/refusals';
import {
  CreateDesiredStateDocument,
  DesiredStateDocument,
  UpdateDesiredStateDocument,
  type DesiredSeenFragment,
} from '../generated/desired';
import { type DesiredDraft, draftFrom, draftOf, inputOf, isComplete } from './desired-draft';
import { DesiredPreview, usePreview } from './desired-preview';
import { NoSuchState } from '../no-such-state';
import { FieldsOfAction } from './fields-of-action';
import { FieldsOfDevices } from './fields-of-devices';
import { FieldsOfRules } from './fields-of-rules';
import classes from '../desired.module.css';

const newRoute = getRouteApi('/desired/new');
const editRoute = getRouteApi('/desired/$id/edit');

export function NewDesiredPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [draft] = useState(draftFrom(newRoute.useSearch()));
  const create = useHubMutation(CreateDesiredStateDocument, (data) => data.createDesiredState.userErrors);
  const save = async (changed: DesiredDraft) => {
    const input = inputOf(changed);
    const key = attemptKey(sessionStorage, 'desired-state', input);
    const data = await create.run({ input, key });
    if (!data) return;
    endAttempt(sessionStorage, 'desired-state');
    // Null where the viewer may not read it.
    const made = data.createDesiredState.desiredState;
    void navigate(made ? { to: '/desired/$id', params: { id: made.id } } : { to: '/desired' });
  };
  return (
    <DesiredForm
      title={t('desired.newTitle')}
      start={draft}
      mutation={create}
      onSave={save}
      cancel={
        <LinkButton to="/desired" variant="default">
          {t('keep.unsaved')}
        </LinkButton>
      }
    />
  );
}

export function EditDesiredPage() {
  const { id } = editRoute.useParams();
  return <StoredForm key={id} id={id} />;
}

function StoredForm({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { data, error, retry } = useFirstRead(DesiredStateDocument, { id });
  // A later failure does not take away a form in use.
  if (data?.desiredState?.viewerMayChange === false) return <UnchangeableState state={data.desiredState} />;
  if (data?.desiredState) return <KnownForm state={data.desiredState} />;
  return (
    <Page title={t('desired.edit')}>
      {data ? <NoSuchState /> : error && <LoadFailure error={error} onRetry={retry} />}
    </Page>
  );
}

function UnchangeableState({ state: { id, name } }: { readonly state: DesiredSeenFragment }) {
  const { t } = useTranslation();
  const scope = useScopeMissing();
  if (scope !== undefined) return <PageForbidden scope={scope} />;
  const back = (
    <Link to="/desired/$id" params={{ id }}>
      {name}
    </Link>
  );
  return (
    <Page title={t('desired.editTitle', { name })}>
      <Empty icon={IconLock} title={t('desired.beyondKey')} action={back} />
    </Page>
  );
}

function useScopeMissing(): 'JOBS_WRITE' | 'TOOLS_CALL' | undefined {
  const [mayRun, mayCall] = [useScope('JOBS_WRITE'), useScope('TOOLS_CALL')];
  if (!mayRun) return 'JOBS_WRITE';
  return mayCall ? undefined : 'TOOLS_CALL';
}

function KnownForm({ state }: { readonly state: DesiredSeenFragment }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { id, generation } = state;
  const [draft] = useState(() => draftOf(state));
  const update = useHubMutation(UpdateDesiredStateDocument, (data) => data.updateDesiredState.userErrors);
  const save = async (changed: DesiredDraft) => {
    const saved = await update.run({ id, generation, input: inputOf(changed) });
    if (saved) void navigate({ to: '/desired/$id', params: { id } });
  };
  return (
    <DesiredForm
      id={id}
      title={t('desired.editTitle', { name: state.name })}
      start={draft}
      mutation={update}
      onSave={save}
      cancel={
        <LinkButton to="/desired/$id" params={{ id }} variant="default">
          {t('keep.unsaved')}
        </LinkButton>
      }
    />
  );
}

interface DesiredFormProps {
  readonly id?: string;
  readonly title: string;
  readonly start: DesiredDraft;
  readonly mutation: Pick<ReturnType<typeof useHubMutation>, 'failure' | 'isBusy'>;
  readonly onSave: (draft: DesiredDraft) => Promise<void>;
  readonly cancel: React.ReactNode;
}

function DesiredForm({ id, title, start, mutation, onSave, cancel }: DesiredFormProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(start);
  const [isTried, setTried] = useState(false);
  const scope = useScopeMissing();
  const change = (changed: Partial<DesiredDraft>) => setDraft((now) => ({ ...now, ...changed }));
  const preview = usePreview(draft, id);
  const refusals = preview.data?.userErrors ?? [];
  const fields = { draft, change, refusals, isTried };
  const { form, focusProblem } = useFocusProblem();
  const isNameMissing = isTried && draft.name.trim() === '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A form in a popover of this one submits itself only.
    if (event.target !== event.currentTarget) return;
    setTried(true);
    if (isComplete(draft) && draft.name.trim() !== '') void onSave(draft);
    else focusProblem();
  };
  if (scope !== undefined) return <PageForbidden scope={scope} />;
  return (
    <Page title={title} lead={t('desired.formLead')}>
      <form ref={form} className={classes.form} onSubmit={submit} noValidate>
        <Section title={t('desired.formWhat')}>
          <Stack>
            <TextInput
              label={t('desired.name')}
              value={draft.name}
              maxLength={100}
              required
              error={(isNameMissing && t('desired.nameMissing')) || refusedAt(refusals, 'name')}
              onChange={(event) => change({ name: event.currentTarget.value })}
              maw={560}
            />
            <FieldsOfAction {...fields} />
          </Stack>
        </Section>
        <Section title={t('desired.devices')}>
          <FieldsOfDevices {...fields} />
        </Section>
        <Section title={t('desired.formRules')}>
          <FieldsOfRules {...fields} />
        </Section>
        <MutationFailureNotice failure={mutation.failure} />
        {/* Above the preview, which would move them under a click when it comes. */}
        <Group justify="flex-end" gap="xs">
          {cancel}
          <Button type="submit" loading={mutation.isBusy}>
            {t(id === undefined ? 'desired.create' : 'common.save')}
          </Button>
        </Group>
        <Section title={t('desired.preview')}>
          <DesiredPreview preview={preview} isComplete={isComplete(draft)} />
        </Section>
      </form>
    </Page>
  );
}
