/**
 * How a call ended and the response of the device: pictures as pictures, JSON formatted, Markdown
 * rendered, other text as text.
 */
import { useTranslation } from 'react-i18next';
import { isObject } from '../unknown-values';
import { HubWords } from '../hub-words';
import classes from './call-result.module.css';
import { Json } from '../json';
import { looksLikeMarkdown } from '../markdown/looks-like-markdown';
import { MarkdownText } from '../markdown/markdown-text';
import { OutcomeBadge, type OutcomeOrStage } from './outcome-badge';

interface EndedCall {
  readonly outcome: OutcomeOrStage | null;
  readonly durationMs: number | null;
  readonly result: { readonly content: unknown; readonly text: string | null; readonly json: unknown } | null;
  readonly error: { readonly code: string; readonly message: string; readonly rpcCode?: number | null } | null;
}

export function CallResult({ call }: { readonly call: EndedCall }) {
  const { t, i18n } = useTranslation();
  const { outcome, durationMs, result, error } = call;
  return (
    <div className={classes.result} role="status">
      <div className={classes.head}>
        {outcome === null ? <OutcomeBadge outcome="IN_FLIGHT" /> : <OutcomeBadge outcome={outcome} />}
        {durationMs !== null && (
          <span className="soft figures">
            {t('tool.took', { ms: new Intl.NumberFormat(i18n.language).format(Math.round(durationMs)) })}
          </span>
        )}
      </div>
      {error && (
        <p className={classes.error}>
          <code>{error.code}</code> <HubWords code={error.code} message={error.message} />
        </p>
      )}
      {result && <ResultContent result={result} />}
    </div>
  );
}

function ResultContent({ result: { content, text, json } }: { readonly result: NonNullable<EndedCall['result']> }) {
  const { t } = useTranslation();
  const items = (Array.isArray(content) ? content : []).filter(isObject);
  const pictures = items.filter(({ type }) => type === 'image');
  const others = items.filter(({ type }) => type !== 'image' && type !== 'text');
  const label = t('tool.result');
  return (
    <>
      {pictures.map(({ mimeType, data }, index) => (
        <img
          key={index}
          className={classes.picture}
          src={`data:${String(mimeType)};base64,${String(data)}`}
          alt={t('tool.picture')}
        />
      ))}
      {json !== null && json !== undefined ? (
        <Json value={json} label={label} />
      ) : (
        text !== null && text !== '' && <TextContent text={text} label={label} />
      )}
      {others.length > 0 && <Json value={others} label={label} />}
    </>
  );
}

function TextContent({ text, label }: { readonly text: string; readonly label: string }) {
  if (!looksLikeMarkdown(text)) return <Json value={text} label={label} />;
  return (
    <div className={classes.text} tabIndex={0} role="region" aria-label={label}>
      <MarkdownText text={text} />
    </div>
  );
}
