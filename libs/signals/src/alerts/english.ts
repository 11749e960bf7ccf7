/** Alerts in English. */
import type { AlertTexts, Words } from './alert-text.js';

const inGroup = ({ group }: Words) => (group === undefined ? '' : ` in ${group}`);
const limitOf = ({ thresholdShare }: Words) => `(limit ${thresholdShare})`;
const reasonOf = ({ facts: { reason } }: Words) => (reason === undefined ? '' : `: ${reason}`);
const counted = (count: string, noun: string) => `${count} ${noun}${count === '1' ? '' : 's'}`;
const devices = ({ count }: Words) => counted(count, 'device');
const within = ({ window }: Words) => `in ${counted(window.count, window.unit)}`;

export const english: AlertTexts = {
  summary: (words) => {
    const { facts, isGroup, label, from, to, total, value } = words;
    const since = from === to ? `at ${from}` : `between ${from} and ${to}`;
    switch (facts.kind) {
      case 'DEVICE_OFFLINE':
        return isGroup
          ? `${words.count} of ${counted(total, 'device')}${inGroup(words)} went offline ${since}.`
          : `${label} is offline since ${from}.`;
      case 'FLEET_OFFLINE_SHARE':
        return (
          `${words.share} of ${counted(total, 'device')}${inGroup(words)} ${total === '1' ? 'is' : 'are'} offline ` +
          `since ${from} ${limitOf(words)}.`
        );
      case 'CALL_FAILURE_RATIO':
        return (
          `${words.share} of ${counted(total, 'call')}${inGroup(words)} ${within(words)} failed ` +
          `since ${from} ${limitOf(words)}.`
        );
      case 'MEASUREMENT': {
        const limit = `${facts.path ?? ''} is ${facts.below === true ? 'below' : 'above'} ${words.threshold}`;
        return isGroup ? `${devices(words)}: ${limit} since ${from}.` : `${label}: ${limit} (${value}) since ${from}.`;
      }
      case 'UNEXPECTED_RESTARTS':
        return isGroup
          ? `${devices(words)}${inGroup(words)} restarted unexpectedly, first seen ${since}.`
          : `${label} restarted unexpectedly: ${counted(value, 'time')} ${within(words)}, last at ${from}.`;
      case 'JOB_STOPPED':
        return `Job "${label}" was stopped at ${from}: ${facts.reason ?? 'an abort rule'}.`;
      case 'DESIRED_STATE_OUT_OF_SYNC':
        return isGroup
          ? `${devices(words)}${inGroup(words)} are not in the desired state since ${from}.`
          : `${label} is not in the desired state since ${from}${reasonOf(words)}.`;
      case 'CREDENTIAL_REFUSED':
        return isGroup
          ? `The hub refused the credentials of ${devices(words)} ${since}.`
          : `The hub refused the credential of ${label} at ${from}.`;
      case 'WEBHOOK_FAILING':
        return `The webhook to ${label} fails since ${from}.`;
      case 'HUB_UNHEALTHY':
        return `The hub is unhealthy since ${from}: ${facts.reason ?? label}.`;
    }
  },
  advice: {
    DEVICE_OFFLINE: 'First check the power and the network at the site.',
    FLEET_OFFLINE_SHARE: 'First check the network of the sites and the gateways of the hub.',
    CALL_FAILURE_RATIO: 'First open the calls and sort them by error.',
    MEASUREMENT: 'First open the device and look at its chart.',
    UNEXPECTED_RESTARTS: 'First compare firmware versions, then check the power supply.',
    JOB_STOPPED: 'First open the job and look at its failures, then resume or cancel it.',
    DESIRED_STATE_OUT_OF_SYNC: 'First open the desired state and look at the errors of its devices.',
    CREDENTIAL_REFUSED: 'If it is your device, issue a new credential; otherwise find out who connects.',
    WEBHOOK_FAILING: 'First check that the receiver runs and answers with 2xx.',
    HUB_UNHEALTHY: 'First open the hub page and the log of the hub.',
  },
  severity: { INFO: 'Info', WARNING: 'Warning', CRITICAL: 'Critical' },
  resolved: 'Resolved',
  resolvedAt: (time) => `This was resolved at ${time}.`,
  examples: (names, more) => `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  several: (count, isResolved) => (isResolved ? `${count} alerts resolved` : `${count} alerts`),
  open: 'Open in the console',
  test: { title: 'Test message', line: 'This channel works. Flotilla sends alerts here.' },
};
