/** A link for many devices: its address as text and as a QR code, while it can be used. */
import { useState } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { CopyField } from '../../parts/copy-field';
import { EnrolmentLinksDocument } from '../enrolments/generated/links';
import { endOf } from '../enrolments/link-end';
import { type MadeLink, NewLinkForm } from '../enrolments/new-link-form';
import classes from './add-devices.module.css';
import { CountDown } from './count-down';
import { LoopbackHint } from './loopback-hint';
import { QrCode } from './qr-code';

/** Ms between two looks at how many devices have used the link. */
const refreshMs = 3_000;

export function ByLink({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [made, setMade] = useState<MadeLink>();
  return made === undefined ? (
    <Stack>
      <Text size="sm">{t('addDevices.linkText')}</Text>
      <NewLinkForm onClose={onClose} onMade={setMade} />
    </Stack>
  ) : (
    <ShownLink link={made} onClose={onClose} />
  );
}

function ShownLink({ link, onClose }: { readonly link: MadeLink; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const { data } = useHubQuery({ query: EnrolmentLinksDocument, variables: {}, refreshMs });
  const now = data?.enrolmentLinks.find(({ id }) => id === link.id);
  const end = now && endOf(now);
  return (
    <Stack>
      {link.url === null ? (
        <Text size="sm">{t('enrolments.noPublicUrl')}</Text>
      ) : (
        <>
          <CopyField label={t('enrolments.linkUrl')} value={link.url} description={t('enrolments.linkUrlHint')} />
          <LoopbackHint address={link.url} />
          <div className={classes.qr}>
            <QrCode text={link.url} label={t('addDevices.qr')} />
            <Text size="sm">{t('addDevices.qrText')}</Text>
          </div>
        </>
      )}
      <dl className={classes.linkState}>
        <dt>{t('addDevices.enrolled')}</dt>
        <dd>
          <span role="status">{t('enrolments.usedOf', { used: now?.usedCount ?? 0, all: link.maxDevices })}</span>
        </dd>
        <dt>{t('addDevices.timeLeft')}</dt>
        <dd>{end === undefined ? <CountDown until={link.expiresAt} /> : t(`enrolments.ended.${end}`)}</dd>
      </dl>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('common.close')}</Button>
      </Group>
    </Stack>
  );
}
