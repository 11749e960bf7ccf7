/** The preview in figures. */
import { useTranslation } from 'react-i18next';
import type { PreviewJobQuery } from './generated/new-job';
import { aboutDuration } from '../../parts/time/about-duration';
import classes from './new-job.module.css';

/** Sizes of waves that are written out. */
const wavesShown = 6;

export function PreviewFigures({ preview }: { readonly preview: PreviewJobQuery['previewJob'] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const sizes = preview.waves.slice(0, wavesShown).map((size) => number.format(size));
  const figures = [
    { name: 'targets', value: number.format(preview.targetCount) },
    { name: 'online', value: number.format(preview.onlineCount) },
    { name: 'missing', value: number.format(preview.missingToolCount) },
    { name: 'radius', value: number.format(preview.blastRadius) },
    {
      name: 'waves',
      value:
        sizes.length === 0
          ? t('newJob.waveKinds.once')
          : `${sizes.join(' + ')}${preview.waves.length > wavesShown ? ' …' : ''}`,
    },
    {
      name: 'time',
      value:
        preview.estimatedSeconds === null
          ? t('newJob.unpaced')
          : aboutDuration(preview.estimatedSeconds, i18n.language),
    },
  ] as const;
  return (
    <dl className={classes.figures}>
      {figures.map(({ name, value }) => (
        <div key={name}>
          <dt>{t(`newJob.preview.${name}`)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
