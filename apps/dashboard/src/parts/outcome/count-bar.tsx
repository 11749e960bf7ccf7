/** Counts by kind: one bar, and a legend with icon, word and number. Colour is never alone. */
import type { Icon } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from './outcome-bar.module.css';

interface BarPart {
  readonly key: string;
  readonly name: string;
  readonly count: number;
  /** The colour of the icon, and of the bar. */
  readonly token: string;
  readonly fill: string;
  readonly icon: Icon;
}

interface CountBarProps {
  /** Parts without a count are left out. */
  readonly parts: readonly BarPart[];
  readonly isBare: boolean;
}

export function CountBar({ parts, isBare }: CountBarProps) {
  const { t, i18n } = useTranslation();
  const shown = parts.filter(({ count }) => count > 0);
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const figures = new Intl.NumberFormat(i18n.language);
  const label = shown.map(({ name, count }) => name + t('mark.colon') + figures.format(count)).join(t('mark.comma'));
  return (
    <div>
      <div className={classes.bar} role="img" aria-label={label || t('common.none')}>
        {shown.map(({ key, count, fill }) => (
          <span
            key={key}
            className={classes.part}
            style={{ flexGrow: count / Math.max(1, total), background: `var(--${fill})` }}
          />
        ))}
      </div>
      {!isBare && (
        <ul className={classes.legend}>
          {shown.map((part) => (
            <LegendEntry key={part.key} part={part} count={figures.format(part.count)} />
          ))}
        </ul>
      )}
    </div>
  );
}

function LegendEntry({ part, count }: { readonly part: BarPart; readonly count: string }) {
  const { fill, token, icon: Shape, name } = part;
  return (
    <li className={classes.entry}>
      <span className={classes.swatch} style={{ background: `var(--${fill})` }} aria-hidden />
      <Shape size={14} stroke={2.2} color={`var(--${token})`} aria-hidden />
      <span className={classes.name}>{name}</span>
      <span className="figures">{count}</span>
    </li>
  );
}
