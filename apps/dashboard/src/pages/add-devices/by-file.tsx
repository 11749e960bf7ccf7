/** Registers the devices of a CSV file, after a check that registers nothing. */
import { useState } from 'react';
import { Button, FileInput, Group, Loader, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useClient } from 'urql';
import { saveText } from '../../hub/send-file';
import { type MutationFailure, useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { ScrollTable } from '../../parts/table/scroll-table';
import classes from './add-devices.module.css';
import { batchesOf, type CheckedFile, checkFile, devicesMax, type FileProblem } from './check-file';
import { PreviewRegistrationDocument, RegisterDevicesDocument } from './generated/add-devices';

/** Bytes: some thousand devices, read at once. */
const fileBytesMax = 4 * 1024 * 1024;
/** Problems that are shown; the first ones tell what is wrong with the others. */
const shownMax = 100;
const example = 'deviceId,name,tags\n02:00:00:00:00:01,Lobby left,lobby;front\n';

export function ByFile({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const { file, checked, isChecking, failure, choose } = useCheckedFile();
  const [registered, setRegistered] = useState<readonly RegisteredLine[]>();
  if (registered) return <Registered lines={registered} onClose={onClose} />;
  return (
    <Stack>
      <Text size="sm">{t('addDevices.fileText')}</Text>
      <pre className={classes.example}>{example}</pre>
      <FileInput
        label={t('addDevices.chooseFile')}
        placeholder={t('addDevices.fileHint')}
        accept=".csv,text/csv"
        value={file ?? null}
        onChange={(chosen) => void choose(chosen ?? undefined)}
        clearable
        clearButtonProps={{ 'aria-label': t('addDevices.clearFile') }}
      />
      {isChecking && <Loader aria-label={t('addDevices.checking')} />}
      <MutationFailureNotice failure={failure} />
      {checked && <Checked checked={checked} onRegistered={setRegistered} onClose={onClose} />}
      {!checked && (
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common.close')}
          </Button>
        </Group>
      )}
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
  const choose = async (chosen: File | undefined) => {
    setFile(chosen);
    setChecked(undefined);
    setFailure(undefined);
    if (!chosen) return;
    if (chosen.size > fileBytesMax) return setChecked({ kind: 'unreadable', message: t('addDevices.fileTooLarge') });
    setChecking(true);
    try {
      setChecked(
        await checkFile(await chosen.text(), async (batch) => {
          const input = batch.map(({ device }) => device);
          const { data, error } = await client
            .query(PreviewRegistrationDocument, { input }, { requestPolicy: 'network-only' })
            .toPromise();
          if (error) throw error;
          return data?.previewRegistration.problems ?? [];
        }),
      );
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      setFailure({ messages: [message], codes: [], isUncertain: false });
    }
    setChecking(false);
  };
  return { file, checked, failure, isChecking, choose };
}

interface RegisteredLine {
  readonly deviceId: string;
  readonly credential: unknown;
}

interface CheckedProps {
  readonly checked: CheckedFile;
  readonly onRegistered: (lines: readonly RegisteredLine[]) => void;
  readonly onClose: () => void;
}

function Checked({ checked, onRegistered, onClose }: CheckedProps) {
  const { t } = useTranslation();
  const act = useHubMutation(RegisterDevicesDocument, (data) => data.registerDevices.userErrors);
  // Kept over a failure: their credentials are shown only once.
  const [made, setMade] = useState<readonly RegisteredLine[]>([]);
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
  const { lines, problems } = checked;
  const register = async () => {
    let done = made;
    for (const batch of batchesOf(lines.slice(made.length))) {
      const data = await act.run({ input: batch.map(({ device }) => device) });
      if (!data) return;
      const { devices, credentials } = data.registerDevices;
      const added = devices.map(({ id }, index) => ({ deviceId: id, credential: credentials[index] ?? null }));
      done = [...done, ...added];
      setMade(done);
    }
    onRegistered(done);
  };
  return (
    <>
      <p role="status" className={problems.length > 0 ? classes.problem : classes.fine}>
        {problems.length > 0
          ? t('addDevices.problems', { count: problems.length })
          : t('addDevices.valid', { count: lines.length })}
      </p>
      {problems.length > 0 && <Problems problems={problems} />}
      <MutationFailureNotice failure={act.failure} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t('addDevices.registerNone')}
        </Button>
        <Button
          disabled={problems.length > 0 || lines.length === 0}
          loading={act.isBusy}
          onClick={() => void register()}
        >
          {t('addDevices.register', { count: lines.length - made.length })}
        </Button>
      </Group>
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

interface RegisteredProps {
  readonly lines: readonly RegisteredLine[];
  readonly onClose: () => void;
}

/** The credentials are shown by the hub once, so they can be saved here. */
function Registered({ lines, onClose }: RegisteredProps) {
  const { t } = useTranslation();
  const text = () => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return (
    <Stack>
      <p role="status" className={classes.fine}>
        {t('addDevices.registered', { count: lines.length })}
      </p>
      <Text size="sm">{t('addDevices.credentialsText')}</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => saveText(text(), 'credentials.jsonl')}>
          {t('addDevices.saveCredentials')}
        </Button>
        <Button onClick={onClose}>{t('common.close')}</Button>
      </Group>
    </Stack>
  );
}
