/** Registers the devices of a CSV file, after a check that registers nothing. */
import { useState } from 'react';
import type { DeviceLine } from '@flotilla/client/devices-csv';
import { Button, FileInput, Group, Loader, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Client, useClient } from 'urql';
import { saveText } from '../../hub/send-file';
import type { MutationFailure } from '../../hub/mutation-failure';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { ScrollTable } from '../../parts/table/scroll-table';
import { useChosenFile } from '../../parts/use-chosen-file';
import classes from './add-devices.module.css';
import { type CheckedFile, devicesMax, FileChecks, type FileProblem } from './check-file';
import { PreviewRegistrationDocument, RegisterDevicesDocument } from './generated/add-devices';
import {
  answeredLines,
  linesLeft,
  noneRegistered,
  type RegisteredLine,
  registerFile,
  type RegisteringHub,
} from './register-file';

/** Bytes: some thousand devices, read at once. */
const fileBytesMax = 4 * 1024 * 1024;
/** Problems that are shown; the first ones say what is wrong with the others. */
const shownMax = 100;
const example = 'deviceId,name,tags\n02:00:00:00:00:01,Lobby left,lobby;front\n';

interface ByFileProps {
  readonly onClose: () => void;
  /** Called with true when the registration begins, and with false when it ends. */
  readonly onRegistering: (isRegistering: boolean) => void;
}

export function ByFile({ onClose, onRegistering }: ByFileProps) {
  const { t } = useTranslation();
  const { file, checked, isChecking, failure, choose } = useCheckedFile();
  const registering = useRegistering();
  const { registered, isBusy, isDone, isUncertain } = registering;
  const chosen = useChosenFile((next) => {
    // Another file does not answer whether devices of the former one are registered.
    if (!isUncertain) registering.reset();
    void choose(next ?? undefined);
  });
  const register = async (lines: readonly DeviceLine[]) => {
    onRegistering(true);
    try {
      await registering.register(lines);
    } finally {
      onRegistering(false);
    }
  };
  if (isDone) return <Registered lines={registered} onClose={onClose} />;
  const hasRegistered = registered.length > 0;
  const isRest = hasRegistered || isUncertain;
  const refused = hasRegistered ? t('addDevices.restRefused') : undefined;
  return (
    <Stack component="form">
      <Text size="sm">{t('addDevices.fileText')}</Text>
      <pre className={classes.example}>{example}</pre>
      <FileInput
        label={t('addDevices.chooseFile')}
        placeholder={t('addDevices.fileHint')}
        accept=".csv,text/csv"
        value={file ?? null}
        {...chosen}
        disabled={isBusy}
        clearable
        clearButtonProps={{ 'aria-label': t('addDevices.clearFile') }}
      />
      {isChecking && <Loader aria-label={t('addDevices.checking')} />}
      <MutationFailureNotice failure={failure} refused={refused} />
      {checked && <Checked checked={checked} hasBegun={registering.hasBegun(checked)} isRest={isRest} />}
      <MutationFailureNotice failure={registering.failure} refused={refused} />
      {checked && registering.isInDoubt(checked) && <Text size="sm">{t('addDevices.unanswered')}</Text>}
      {hasRegistered && <CredentialsText lines={registered} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isBusy} onClick={onClose}>
          {t(checked && !isRest ? 'addDevices.registerNone' : 'common.close')}
        </Button>
        {hasRegistered && <SaveCredentials lines={registered} />}
        {checked?.kind === 'checked' && (
          <Button
            disabled={checked.problems.length > 0 || checked.lines.length === 0}
            loading={isBusy}
            onClick={() => void register(checked.lines)}
          >
            {t('addDevices.register', { count: registering.left(checked.lines) })}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function useCheckedFile() {
  const { t } = useTranslation();
  const client = useClient();
  const [file, setFile] = useState<File>();
  const [checked, setChecked] = useState<CheckedFile>();
  const [failure, setFailure] = useState<MutationFailure>();
  const [isChecking, setChecking] = useState(false);
  const [checks] = useState(() => new FileChecks());
  const ask = async (batch: readonly DeviceLine[]) => {
    const { data, error } = await askHub(client, batch);
    if (error) throw error;
    return data?.previewRegistration.problems ?? [];
  };
  const choose = async (chosen: File | undefined) => {
    checks.drop();
    setFile(chosen);
    setChecked(undefined);
    setFailure(undefined);
    setChecking(false);
    if (!chosen) return;
    if (chosen.size > fileBytesMax) return setChecked({ kind: 'unreadable', message: t('addDevices.fileTooLarge') });
    setChecking(true);
    try {
      const answer = await checks.check(chosen.text(), ask);
      if (answer === undefined) return;
      setChecked(answer);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      setFailure({ messages: [message], codes: [], isUncertain: false });
    }
    setChecking(false);
  };
  return { file, checked, failure, isChecking, choose };
}

function askHub(client: Client, batch: readonly DeviceLine[]) {
  const input = batch.map(({ device }) => device);
  return client.query(PreviewRegistrationDocument, { input }, { requestPolicy: 'network-only' }).toPromise();
}

/** What is registered is kept over a failure and another file: credentials are shown only once. */
function useRegistering() {
  const client = useClient();
  const act = useHubMutation(RegisterDevicesDocument, (data) => data.registerDevices.userErrors);
  const { run, failure, reset } = act;
  const [registration, setRegistration] = useState(noneRegistered);
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const isUncertain = failure?.isUncertain === true;
  const hub: RegisteringHub = {
    register: async (batch) => {
      const data = await run({ input: batch.map(({ device }) => device) });
      if (!data) return undefined;
      return answeredLines(batch, data.registerDevices);
    },
    isRegistered: async (batch) => {
      const { data, error } = await askHub(client, batch);
      if (error || !data) return undefined;
      const known = data.previewRegistration.problems.filter(({ code }) => code === 'CONFLICT');
      return known.length === batch.length;
    },
  };
  const register = async (lines: readonly DeviceLine[]) => {
    setBusy(true);
    setDone(await registerFile({ former: registration, isUnanswered: isUncertain }, lines, hub, setRegistration));
    setBusy(false);
  };
  const { registered, of } = registration;
  const left = (lines: readonly DeviceLine[]) => linesLeft(registration, lines).length;
  const hasBegun = (checked: CheckedFile) => checked.kind === 'checked' && left(checked.lines) < checked.lines.length;
  const isInDoubt = (checked: CheckedFile) => isUncertain && checked.kind === 'checked' && checked.lines === of;
  return { registered, isBusy, isUncertain, failure, reset, isDone, register, left, hasBegun, isInDoubt };
}

interface CheckedProps {
  readonly checked: CheckedFile;
  /** Some of its devices are registered already. */
  readonly hasBegun: boolean;
  /** Devices of this or another file are registered already, or may be. */
  readonly isRest: boolean;
}

function Checked({ checked, hasBegun, isRest }: CheckedProps) {
  const { t } = useTranslation();
  if (checked.kind === 'unreadable')
    return (
      <p role="alert" className={classes.problem}>
        {checked.message}
      </p>
    );
  if (checked.kind === 'tooLong')
    return (
      <p role="alert" className={classes.problem}>
        {t('addDevices.tooLong', { found: checked.count, most: devicesMax })}
      </p>
    );
  if (hasBegun) return null;
  const { lines, problems } = checked;
  return (
    <>
      <p role="status" className={problems.length > 0 ? classes.problem : classes.fine}>
        {problems.length > 0
          ? t(isRest ? 'addDevices.restProblems' : 'addDevices.problems', { count: problems.length })
          : t(isRest ? 'addDevices.restValid' : 'addDevices.valid', { count: lines.length })}
      </p>
      {problems.length > 0 && <Problems problems={problems} />}
    </>
  );
}

function Problems({ problems }: { readonly problems: readonly FileProblem[] }) {
  const { t } = useTranslation();
  return (
    <div className={classes.problems}>
      <ScrollTable
        label={t('addDevices.problemTable')}
        minWidth={280}
        headers={[t('addDevices.line'), t('addDevices.problemHead')]}
      >
        {problems.slice(0, shownMax).map(({ line, code, value, message }) => (
          <Table.Tr key={`${line} ${message}`}>
            <Table.Td>{line}</Table.Td>
            <Table.Td>{code ? t(`addDevices.problem.${code}`, { value }) : message}</Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
      {problems.length > shownMax && (
        <Text size="sm">{t('addDevices.moreProblems', { count: problems.length - shownMax })}</Text>
      )}
    </div>
  );
}

interface CredentialsProps {
  readonly lines: readonly RegisteredLine[];
}

interface RegisteredProps extends CredentialsProps {
  readonly onClose: () => void;
}

function Registered({ lines, onClose }: RegisteredProps) {
  const { t } = useTranslation();
  return (
    <Stack>
      <CredentialsText lines={lines} />
      <Group justify="flex-end" gap="xs">
        <SaveCredentials lines={lines} />
        <Button onClick={onClose}>{t('common.close')}</Button>
      </Group>
    </Stack>
  );
}

function CredentialsText({ lines }: CredentialsProps) {
  const { t } = useTranslation();
  const lost = lines.filter(({ credentialLost }) => credentialLost).length;
  return (
    <>
      <p role="status" className={classes.fine}>
        {t('addDevices.registered', { count: lines.length })}
      </p>
      <Text size="sm">{t('addDevices.credentialsText')}</Text>
      {lost > 0 && (
        <p role="alert" className={classes.problem}>
          {t('addDevices.credentialsLost', { count: lost })}
        </p>
      )}
    </>
  );
}

/** The credentials are shown by the hub once, so they can be saved here. */
function SaveCredentials({ lines }: CredentialsProps) {
  const { t } = useTranslation();
  const text = () => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return (
    <Button variant="default" onClick={() => saveText(text(), 'credentials.jsonl')}>
      {t('addDevices.saveCredentials')}
    </Button>
  );
}
