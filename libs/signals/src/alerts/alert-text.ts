/** The texts of alerts: summaries for lists, and messages for channels. */
import type { AlertFacts } from './alert-facts.js';
import type { AlertSeverity } from './alert-rule.js';
import { english } from './english.js';
import { chinese } from './chinese.js';

export type AlertLanguage = 'en' | 'zh';

interface TextOptions {
  readonly language: AlertLanguage;
  /** IANA name of the zone in which times are written. */
  readonly timeZone: string;
}

export interface DescribedAlert {
  readonly id: string;
  readonly severity: AlertSeverity;
  readonly facts: AlertFacts;
  readonly isGroup: boolean;
  readonly deviceCount: number;
  readonly firedAt: number;
  readonly resolvedAt: number | undefined;
}

/** A message in parts, so that each channel can set them in its own way. */
export interface AlertMessage {
  readonly title: string;
  readonly lines: readonly string[];
  readonly link: { readonly text: string; readonly url: string } | undefined;
}

/** What the sentences of a language are made of, ready to print. */
export interface Words {
  readonly facts: AlertFacts;
  readonly isGroup: boolean;
  readonly label: string;
  readonly count: string;
  readonly total: string;
  readonly group: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly share: string;
  readonly threshold: string;
  readonly thresholdShare: string;
  readonly window: { readonly count: string; readonly unit: 'second' | 'minute' };
}

export interface AlertTexts {
  summary(words: Words): string;
  readonly advice: Readonly<Record<AlertFacts['kind'], string>>;
  readonly severity: Readonly<Record<AlertSeverity, string>>;
  readonly resolved: string;
  resolvedAt(time: string): string;
  examples(names: readonly string[], more: number): string;
  several(count: number, isResolved: boolean): string;
  readonly open: string;
  readonly test: { readonly title: string; readonly line: string };
}

const languages: Readonly<Record<AlertLanguage, AlertTexts>> = { en: english, zh: chinese };
/** Characters of one message: chats cut longer ones. */
const LINE_CHARACTERS_MAX = 300;

/** One sentence: what happened, where, and since when. */
export function summaryOf(
  alert: Pick<DescribedAlert, 'facts' | 'isGroup' | 'deviceCount'>,
  options: TextOptions,
): string {
  return languages[options.language].summary(wordsOf(alert, options));
}

/**
 * The message about one alert, or about several of the same type. `consoleUrl` has no slash at its
 * end.
 */
export function messageOf(
  alerts: readonly DescribedAlert[],
  isResolved: boolean,
  { consoleUrl, ...options }: TextOptions & { readonly consoleUrl: string | undefined },
): AlertMessage {
  const texts = languages[options.language];
  const [alert] = alerts;
  const link = (path: string) => (consoleUrl === undefined ? undefined : { text: texts.open, url: consoleUrl + path });
  if (alert === undefined || alerts.length > 1) {
    const lines = alerts.map((each) => `${headOf(each, isResolved, texts)}: ${summaryOf(each, options)}`);
    return { title: texts.several(alerts.length, isResolved), lines: lines.map(cut), link: link('/alerts') };
  }
  const { examples = [] } = alert.facts;
  const lines = [
    summaryOf(alert, options),
    ...(examples.length === 0 ? [] : [texts.examples(examples, alert.deviceCount - examples.length)]),
    isResolved ? texts.resolvedAt(timeOf(alert.resolvedAt ?? alert.firedAt, options)) : texts.advice[alert.facts.kind],
  ];
  return { title: headOf(alert, isResolved, texts), lines: lines.map(cut), link: link(`/alerts/${alert.id}`) };
}

export function testMessage({ language }: Pick<TextOptions, 'language'>, consoleUrl: string | undefined): AlertMessage {
  const { open, test } = languages[language];
  const link = consoleUrl === undefined ? undefined : { text: open, url: `${consoleUrl}/alerts` };
  return { title: test.title, lines: [test.line], link };
}

function headOf({ facts, severity }: DescribedAlert, isResolved: boolean, texts: AlertTexts): string {
  return `[${isResolved ? texts.resolved : texts.severity[severity]}] ${facts.ruleName}`;
}

function wordsOf(
  { facts, isGroup, deviceCount }: Pick<DescribedAlert, 'facts' | 'isGroup' | 'deviceCount'>,
  options: TextOptions,
): Words {
  // A small number needs more digits than a large one: 0.0049 is not 0.
  const number = (value = 0, maximumFractionDigits = 2, maximumSignificantDigits = 6) => {
    const digits = { maximumFractionDigits, maximumSignificantDigits, roundingPriority: 'morePrecision' } as const;
    return value.toLocaleString(options.language, digits);
  };
  const share = (value = 0) => `${number(value * 100, 1, 2)} %`;
  const windowSeconds = facts.windowSeconds ?? 0;
  return {
    facts,
    isGroup,
    group: facts.group,
    label: facts.label ?? '',
    count: number(deviceCount),
    total: number(facts.total),
    from: timeOf(facts.beganFrom, options),
    to: timeOf(facts.beganTo, options),
    value: number(facts.value),
    share: share(facts.value),
    threshold: number(facts.threshold),
    thresholdShare: share(facts.threshold),
    window:
      windowSeconds < 60
        ? { count: number(windowSeconds), unit: 'second' }
        : { count: number(windowSeconds / 60, 2, 2), unit: 'minute' },
  };
}

/** Day and time: a message may be read a day later. */
function timeOf(at: number, { language, timeZone }: TextOptions): string {
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    timeZone,
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
    timeZoneName: 'short',
  }).format(at);
}

function cut(text: string): string {
  if (text.length <= LINE_CHARACTERS_MAX) return text;
  // Without half of a character: chats refuse a message that has one.
  return `${text.slice(0, LINE_CHARACTERS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
