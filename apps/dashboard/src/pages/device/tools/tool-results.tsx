/** The last results of one tool of one device, latest first. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../../hub/use-hub-query';
import { LoadFailure } from '../../../parts/failure';
import { CallResult } from '../../../parts/outcome/call-result';
import { OutcomeBadge } from '../../../parts/outcome/outcome-badge';
import { Time } from '../../../parts/time/time';
import { ToolResultsDocument } from '../generated/device';
import classes from './tools.module.css';

interface ToolResultsProps {
  readonly deviceId: string;
  readonly tool: string;
  /** Changes after each call of the page. */
  readonly called: number;
}

export function ToolResults({ deviceId, tool, called }: ToolResultsProps) {
  const { t } = useTranslation();
  const variables = useMemo(() => ({ filter: { deviceId, tool } }), [deviceId, tool]);
  const { data, error, refresh } = useHubQuery({ query: ToolResultsDocument, variables });
  const seen = useRef(called);
  useEffect(() => {
    if (seen.current === called) return;
    seen.current = called;
    refresh();
  }, [called, refresh]);
  const [open, setOpen] = useState<string>();
  if (error) return <LoadFailure error={error} onRetry={refresh} />;
  const calls = data?.calls.nodes ?? [];
  if (calls.length === 0) return null;
  return (
    <div>
      <h4 className={classes.resultsTitle}>{t('device.lastResults')}</h4>
      <ul className={classes.results}>
        {calls.map((call) => (
          <li key={call.id}>
            <button
              type="button"
              className={classes.result}
              aria-expanded={open === call.id}
              onClick={() => setOpen(open === call.id ? undefined : call.id)}
            >
              <Time at={call.startedAt} />
              <OutcomeBadge outcome={call.outcome ?? 'IN_FLIGHT'} />
              <code className="cut">{JSON.stringify(call.arguments)}</code>
              <span className="cut soft">{call.result?.text ?? call.error?.code ?? ''}</span>
            </button>
            {open === call.id && <CallResult call={call} />}
          </li>
        ))}
      </ul>
    </div>
  );
}
