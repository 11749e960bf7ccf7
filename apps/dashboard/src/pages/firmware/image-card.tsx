/** What an image says of itself, for which boards it is published, and what can be done with it. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { IconRocket } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { badgeColours } from '../../parts/badge';
import { useFleetScope, useMayRollOut } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MarkdownText } from '../../parts/markdown/markdown-text';
import { Confirm } from '../../parts/dialog/confirm';
import { LinkButton } from '../../parts/link-button';
import { fileSize } from '../../parts/number/file-size';
import { Time } from '../../parts/time/time';
import { useNotify } from '../../parts/use-notify';
import { boardFilter } from './board-filter';
import classes from './firmware.module.css';
import { DeleteImageDocument, type ImageFragment, WithdrawImageDocument } from './generated/firmware';
import { PublishImage } from './publish-image';

interface ImageCardProps {
  readonly image: ImageFragment;
  /** Was just taken in. */
  readonly isNew: boolean;
  readonly onChanged: () => void;
}

export function ImageCard({ image, isNew, onChanged }: ImageCardProps) {
  const { t, i18n } = useTranslation();
  const state = stateOf(image);
  const facts = [
    [t('firmware.chip'), image.chip],
    [t('firmware.size'), fileSize(image.sizeBytes, i18n.language)],
    [t('firmware.idf'), image.idfVersion ?? t('common.none')],
    ...(image.secureVersion ? [[t('firmware.secureVersion'), String(image.secureVersion)] as const] : []),
    [t('firmware.file'), image.fileName],
    [t('firmware.signedBy'), image.signedBy?.name ?? t('firmware.unsigned')],
    [t('firmware.boards'), image.models.join(t('mark.listed')) || t('common.none')],
  ] as const;
  return (
    <section className={classes.card} aria-label={`${image.project} ${image.version}`} data-new={isNew || undefined}>
      <div className={classes.head}>
        <h2 className={classes.version}>
          {image.project} {image.version}
        </h2>
        <span className={classes.kind}>{t(`firmware.kinds.${image.kind}`)}</span>
        <span className={classes.state} style={badgeColours(tokens[state])}>
          {t(`firmware.state.${state}`)}
        </span>
      </div>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div>
          <dt>{t('firmware.uploaded')}</dt>
          <dd>
            <Time at={image.uploadedAt} />
          </dd>
        </div>
      </dl>
      {image.notes !== null && (
        <div className={classes.notes}>
          <MarkdownText text={image.notes} />
        </div>
      )}
      <code className={`${classes.hash} cut`}>{`SHA-256 ${image.sha256}`}</code>
      <Acts image={image} state={state} onChanged={onChanged} />
    </section>
  );
}

const tokens = { taken: 'unknown', published: 'succeeded', withdrawn: 'muted' } as const;
type ImageState = keyof typeof tokens;

function stateOf({ publishedAt, withdrawnAt }: ImageFragment): ImageState {
  if (withdrawnAt !== null) return 'withdrawn';
  return publishedAt === null ? 'taken' : 'published';
}

interface ActsProps {
  readonly image: ImageFragment;
  readonly state: ImageState;
  readonly onChanged: () => void;
}

function Acts({ image, state, onChanged }: ActsProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [mayWrite, mayRollOut] = [useFleetScope('FIRMWARE_WRITE'), useMayRollOut()];
  const [asked, setAsked] = useState<'withdraw' | 'remove'>();
  const [isPublishing, setPublishing] = useState(false);
  const withdraw = useHubMutation(WithdrawImageDocument, (data) => data.withdrawFirmwareImage.userErrors);
  const remove = useHubMutation(DeleteImageDocument, (data) => data.deleteFirmwareImage.userErrors);
  const act = asked === 'remove' ? remove : withdraw;
  const confirm = async () => {
    if (!(await act.run({ id: image.id }))) return;
    setAsked(undefined);
    notify(t(asked === 'remove' ? 'firmware.removed' : 'firmware.withdrawn', { version: image.version }));
    onChanged();
  };
  return (
    <Group gap="xs">
      {state === 'published' && mayRollOut && (
        <LinkButton
          to="/jobs/new"
          search={{ firmwareImageId: image.id, devices: boardFilter(image.models) }}
          leftSection={<IconRocket size={16} aria-hidden />}
          variant="light"
        >
          {t('firmware.rollOut')}
        </LinkButton>
      )}
      {mayWrite && state !== 'published' && (
        <Button variant="light" onClick={() => setPublishing(true)}>
          {t('firmware.publish')}
        </Button>
      )}
      {mayWrite && state === 'published' && (
        <>
          <Button variant="default" onClick={() => setPublishing(true)}>
            {t('firmware.addBoards')}
          </Button>
          <Button variant="default" onClick={() => setAsked('withdraw')}>
            {t('firmware.withdraw')}
          </Button>
        </>
      )}
      {mayWrite && state !== 'published' && (
        <Button variant="default" onClick={() => setAsked('remove')}>
          {t('firmware.remove')}
        </Button>
      )}
      {isPublishing && (
        <PublishImage
          image={image}
          isPublished={state === 'published'}
          onClose={() => setPublishing(false)}
          onDone={onChanged}
        />
      )}
      <Confirm
        isOpen={asked !== undefined}
        title={t(`firmware.${asked ?? 'withdraw'}Title`, { version: image.version })}
        text={t(`firmware.${asked ?? 'withdraw'}Text`)}
        act={t(`firmware.${asked ?? 'withdraw'}`)}
        keep={t('keep.image')}
        isBusy={act.isBusy}
        failure={act.failure}
        onConfirm={() => void confirm()}
        onClose={() => setAsked(undefined)}
      />
    </Group>
  );
}
