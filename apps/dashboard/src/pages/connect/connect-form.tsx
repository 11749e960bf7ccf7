/** Who asks, what for, and for which devices; then allow or deny. */
import { useState } from 'react';
import { Alert, Button, Checkbox, Group, Radio, Select, Stack } from '@mantine/core';
import { IconAlertTriangle, IconPlugConnected } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Empty } from '../../parts/empty';
import { ReadFailure } from '../../parts/failure';
import { MoreGroups, useGroups } from '../../parts/groups/groups';
import { Page, Section } from '../../parts/page';
import { type AgentRequest, type AgentScope, type Decision, type RequestProblem, sendDecision } from './agent-request';
import classes from './connect.module.css';

interface ConnectFormProps {
  readonly uid: string;
  readonly request: AgentRequest;
  readonly onProblem: (problem: RequestProblem) => void;
}

export function ConnectForm({ uid, request, onProblem }: ConnectFormProps) {
  const { t } = useTranslation();
  const { client, days, person } = request;
  const [scopes, setScopes] = useState<readonly AgentScope[]>(() =>
    request.scopes.flatMap(({ name, available }) => (available ? [name] : [])),
  );
  const [isGroup, setGroup] = useState(false);
  const [groupId, setGroupId] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const decide = async (decision: Decision) => {
    setBusy(true);
    const answer = await sendDecision(uid, decision);
    if (typeof answer === 'string') return onProblem(answer);
    location.assign(answer.redirectTo);
    // The browser opens a scheme such as `cursor:` without leaving this page.
    if (client.host.endsWith(':')) setDone(true);
  };
  if (isDone)
    return (
      <Page title={t('connect.title')}>
        <Empty icon={IconPlugConnected} title={t('connect.done', { name: client.name })}>
          {t('connect.doneHint')}
        </Empty>
      </Page>
    );
  const canAllow = scopes.length > 0 && (!isGroup || groupId !== null);
  return (
    <Page title={t('connect.heading', { name: client.name })} lead={t('connect.lead', { name: client.name, person })}>
      <Stack className={classes.form} gap="lg">
        <Destination client={client} />
        <Section title={t('connect.scopes')}>
          <Scopes request={request} chosen={scopes} onChange={setScopes} />
        </Section>
        <Section title={t('connect.devices')}>
          <Devices isGroup={isGroup} onGroup={setGroup} groupId={groupId} onGroupId={setGroupId} />
        </Section>
        <p className="soft">{t('connect.until', { count: days })}</p>
        <Group>
          <Button
            disabled={!canAllow}
            loading={isBusy}
            onClick={() => void decide({ decision: 'allow', scopes, groupId: isGroup ? groupId : null })}
          >
            {t('connect.allow')}
          </Button>
          <Button variant="default" disabled={isBusy} onClick={() => void decide({ decision: 'deny' })}>
            {t('connect.deny')}
          </Button>
        </Group>
      </Stack>
    </Page>
  );
}

function Destination({ client }: Pick<AgentRequest, 'client'>) {
  const { t } = useTranslation();
  const { host, isLocal, document } = client;
  return (
    <Alert icon={<IconAlertTriangle size={18} aria-hidden />} variant="light" color="yellow">
      <p className={classes.destination}>
        {t(isLocal ? 'connect.toProgram' : 'connect.toHost')} <strong>{host}</strong>
      </p>
      <p className={classes.destination}>{t(isLocal ? 'connect.checkProgram' : 'connect.checkHost')}</p>
      {document !== null && (
        <p className={classes.destination}>
          {t('connect.document')} <code>{document}</code>
        </p>
      )}
    </Alert>
  );
}

interface ScopesProps {
  readonly request: AgentRequest;
  readonly chosen: readonly AgentScope[];
  readonly onChange: (chosen: readonly AgentScope[]) => void;
}

function Scopes({ request, chosen, onChange }: ScopesProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      {request.scopes.map(({ name, available }) => (
        <Checkbox
          key={name}
          checked={chosen.includes(name)}
          disabled={!available}
          label={t(`connect.scope.${name}`)}
          description={available ? undefined : t('connect.notYours')}
          onChange={({ currentTarget: { checked } }) =>
            onChange(checked ? [...chosen, name] : chosen.filter((each) => each !== name))
          }
        />
      ))}
    </Stack>
  );
}

interface DevicesProps {
  readonly isGroup: boolean;
  readonly onGroup: (isGroup: boolean) => void;
  readonly groupId: string | null;
  readonly onGroupId: (id: string | null) => void;
}

function Devices({ isGroup, onGroup, groupId, onGroupId }: DevicesProps) {
  const { t } = useTranslation();
  const { groups, read } = useGroups();
  return (
    <Stack gap="xs" role="radiogroup" aria-label={t('connect.devices')}>
      <Radio name="devices" checked={!isGroup} onChange={() => onGroup(false)} label={t('connect.allDevices')} />
      <Radio
        name="devices"
        checked={isGroup}
        disabled={groups.length === 0}
        onChange={() => onGroup(true)}
        label={t('connect.oneGroup')}
        description={read.data?.length === 0 ? t('connect.noGroups') : undefined}
      />
      <ReadFailure read={read} />
      {isGroup && <MoreGroups />}
      {isGroup && (
        <Select
          aria-label={t('connect.group')}
          placeholder={t('connect.group')}
          data={groups.map(({ id, name }) => ({ value: id, label: name }))}
          value={groupId}
          onChange={onGroupId}
          allowDeselect={false}
        />
      )}
    </Stack>
  );
}
