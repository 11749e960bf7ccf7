/** A button that shows one request as curl, command line and TypeScript, to be copied. */
import { useState } from 'react';
import { Button, SegmentedControl, Stack, Textarea } from '@mantine/core';
import { IconCheck, IconCode, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../act-button';
import { Dialog } from '../dialog/dialog';
import { type CopiedRequest, type CopyForm, copyForms, textOf } from './copied-request';
import classes from './copy-as.module.css';
import { useCopy } from './use-copy';

interface CopyAsProps {
  /** Called when the dialog opens. */
  readonly request: () => CopiedRequest;
  readonly isDisabled?: boolean;
  readonly size?: 'xs' | 'sm';
}

export function CopyAs({ request, isDisabled = false, size = 'sm' }: CopyAsProps) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState<CopiedRequest>();
  return (
    <>
      <ActButton size={size} icon={IconCode} disabled={isDisabled} onClick={() => setCopied(request())}>
        {t('copyAs.act')}
      </ActButton>
      <Dialog isOpen={copied !== undefined} onClose={() => setCopied(undefined)} title={t('copyAs.title')} size="lg">
        {copied && <Forms request={copied} />}
      </Dialog>
    </>
  );
}

function Forms({ request }: { readonly request: CopiedRequest }) {
  const { t } = useTranslation();
  const [form, setForm] = useState<CopyForm>('curl');
  const text = textOf(form, request, location.origin);
  const { field, copy, isCopied, isRefused } = useCopy<HTMLTextAreaElement>(text ?? '');
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t('copyAs.title')}
        value={form}
        onChange={(chosen) => setForm(chosen as CopyForm)}
        data={copyForms.map((value) => ({ value, label: t(`copyAs.${value}`) }))}
      />
      <p className="soft">{t(request.kind === 'job' ? 'copyAs.jobHint' : 'copyAs.hint')}</p>
      <Textarea
        ref={field}
        aria-label={t(`copyAs.${form}`)}
        classNames={{ input: classes.text ?? '' }}
        value={text ?? t('copyAs.impossible')}
        readOnly
        autosize
        minRows={3}
        maxRows={14}
        onFocus={(event) => event.currentTarget.select()}
      />
      {text !== undefined && (
        <Button
          leftSection={isCopied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
          onClick={copy}
        >
          {t(isCopied ? 'common.copied' : 'common.copy')}
        </Button>
      )}
      {isRefused && <div role="alert">{t('common.copyRefused')}</div>}
    </Stack>
  );
}
