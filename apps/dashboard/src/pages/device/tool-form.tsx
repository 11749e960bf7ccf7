/**
 * Calls one tool on one device and shows the outcome. Disruptive tools need confirmation; readback
 * updates the state.
 */
import { type FormEvent, useState } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { IconAdjustmentsCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { isObject } from '../../parts/unknown-values';
import { ArgumentsForm, useArguments } from '../../parts/arguments/arguments-form';
import { CallResult } from '../../parts/outcome/call-result';
import { CopyAs } from '../../parts/copy-as/copy-as';
import { Confirm } from '../../parts/dialog/confirm';
import { MarkdownText } from '../../parts/markdown/markdown-text';
import { MutationFailureNotice } from '../../parts/failure';
import { LinkButton } from '../../parts/link-button';
import { canBeKept } from '../desired/form/can-be-kept';
import { fitsAddress } from '../desired/form/new-desired-search';
import type { DeviceSeen } from './device-page';
import type { DeviceTool } from './device-tools';
import { ToolResults } from './tools/tool-results';
import { RestartOffer } from './restart-offer';
import classes from './device.module.css';
import { type CallLineFragment, CallToolDocument } from './generated/device';

interface ToolFormProps {
  readonly device: DeviceSeen;
  readonly tool: DeviceTool;
  readonly mayCall: boolean;
  readonly onCalled: () => void;
}

export function ToolForm({ device, tool, mayCall, onCalled }: ToolFormProps) {
  const { t } = useTranslation();
  const [known] = useState(() => presentValues(tool, device.reportedState));
  const state = useArguments(tool, { known, isPreset: true });
  const [isTried, setTried] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [called, setCalled] = useState(0);
  const [ended, setEnded] = useState<CallLineFragment>();
  // A refusal that comes with a recorded call is shown as that call.
  const act = useHubMutation(CallToolDocument, ({ callTool }) => (callTool.call === null ? callTool.userErrors : []));
  const readBack = useHubMutation(CallToolDocument, () => []);

  const call = async () => {
    setAsking(false);
    setEnded(undefined);
    const data = await act.run({ input: { deviceId: device.id, tool: tool.name, arguments: state.arguments } });
    const answered = data?.callTool.call ?? undefined;
    setEnded(answered);
    const { readback } = tool.policy;
    if (answered?.outcome === 'SUCCEEDED' && readback !== null)
      await readBack.run({ input: { deviceId: device.id, tool: readback.tool } });
    setCalled((count) => count + 1);
    onCalled();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!state.isSound) return;
    if (tool.policy.disruptive) setAsking(true);
    else void call();
  };
  return (
    <form onSubmit={submit} aria-label={tool.name}>
      <div className={classes.whole}>
        <MarkdownText text={tool.description} />
      </div>
      <Stack>
        <ArgumentsForm state={state} isTried={isTried} />
        {mayCall && (
          <Group gap="sm">
            <Button type="submit" variant="light" loading={act.isBusy} disabled={device.presence === 'OFFLINE'}>
              {t('tool.call')}
            </Button>
            <CopyAs
              isDisabled={!state.isSound}
              request={() => ({ kind: 'call', deviceId: device.id, tool: tool.name, arguments: state.arguments })}
            />
            <KeepSo deviceId={device.id} tool={tool} given={state.arguments} />
            {device.presence === 'OFFLINE' && (
              <span className={classes.note}>{t(`tool.offline.${device.reachability}`)}</span>
            )}
          </Group>
        )}
        <MutationFailureNotice failure={act.failure} />
        {ended && <CallResult call={ended} />}
        {ended && mayCall && <RestartOffer device={device} call={ended} onRestarted={onCalled} />}
        <ToolResults deviceId={device.id} tool={tool.name} called={called} />
      </Stack>
      <Confirm
        isOpen={isAsking}
        title={t('tool.disruptiveTitle', { tool: tool.name })}
        text={t('tool.disruptiveText', { device: device.name ?? device.id })}
        act={t('tool.call')}
        keep={t('keep.uncalled')}
        onConfirm={() => void call()}
        onClose={() => setAsking(false)}
      />
    </form>
  );
}

interface KeepSoProps {
  readonly deviceId: string;
  readonly tool: DeviceTool;
  readonly given: Readonly<Record<string, unknown>>;
}

/** The way to a desired state with these arguments, for tools whose effect the hub can keep. */
function KeepSo({ deviceId, tool, given }: KeepSoProps) {
  const { t } = useTranslation();
  const [mayOpen, mayRun] = [useScope('JOBS_READ'), useScope('JOBS_WRITE')];
  if (!mayOpen || !mayRun || !canBeKept(tool.policy)) return null;
  const search = { tool: tool.name, arguments: given, devices: { ids: [deviceId] } };
  if (!fitsAddress(search)) return null;
  return (
    <LinkButton
      to="/desired/new"
      search={search}
      variant="default"
      leftSection={<IconAdjustmentsCheck size={16} aria-hidden />}
    >
      {t('desired.keepSo')}
    </LinkButton>
  );
}

/** What the device has now for the argument that its policy reads back. */
function presentValues(
  { policy: { readback } }: DeviceTool,
  reportedState: unknown,
): Readonly<Record<string, unknown>> {
  if (readback === null || !isObject(reportedState)) return {};
  let value = reportedState[readback.tool];
  for (const step of readback.path.split('.')) value = isObject(value) ? value[step] : undefined;
  return value === undefined ? {} : { [readback.argument]: value };
}
