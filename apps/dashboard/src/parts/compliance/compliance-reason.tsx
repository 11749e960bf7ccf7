/** Why a device is in its compliance state, in a few words, with links to what is behind it. */
import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { HubWords } from '../hub-words';
import { Time } from '../time/time';
import type { ComplianceState } from './compliance-looks';

interface ComplianceTarget {
  readonly state: ComplianceState;
  /** 0 until a roll-out has reached the device. */
  readonly observedGeneration: number;
  readonly nextTryAt: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly blockedBy: readonly { readonly id: string; readonly name: string }[];
}

export function ComplianceReason({ target }: { readonly target: ComplianceTarget }) {
  const { t } = useTranslation();
  const { state, nextTryAt, error, blockedBy } = target;
  const sentence = sentenceOf(target);
  const parts: ReactNode[] = [
    ...(sentence === undefined ? [] : [t(`complianceReason.${sentence}`)]),
    ...(error === null ? [] : [<Words key="error" error={error} />]),
    ...blockedBy.map(({ id, name }) => (
      <Link key={id} to="/desired/$id" params={{ id }} style={{ textDecoration: 'underline' }}>
        {name}
      </Link>
    )),
    ...(nextTryAt === null
      ? []
      : [
          <span key="next">
            {t(state === 'HELD' ? 'complianceReason.heldUntil' : 'complianceReason.nextTry')} <Time at={nextTryAt} />
          </span>,
        ]),
  ];
  return (
    <>
      {parts.map((part, index) => (
        <span key={index}>
          {index > 0 && ' '}
          {part}
        </span>
      ))}
    </>
  );
}

function Words({ error: { code, message } }: { readonly error: NonNullable<ComplianceTarget['error']> }) {
  return (
    <>
      {code}: <HubWords code={code} message={message} />
    </>
  );
}

/** States that say nothing more than their name: their error or their time does. */
const silent = ['IN_SYNC', 'RETRYING', 'UNSUPPORTED'] as const;
type Silent = (typeof silent)[number];

function sentenceOf({
  state,
  observedGeneration,
}: ComplianceTarget): Exclude<ComplianceState, Silent> | 'NOT_REACHED' | undefined {
  if (state === 'APPLYING' && observedGeneration === 0) return 'NOT_REACHED';
  return isSilent(state) ? undefined : state;
}

function isSilent(state: ComplianceState): state is Silent {
  return (silent as readonly ComplianceState[]).includes(state);
}
