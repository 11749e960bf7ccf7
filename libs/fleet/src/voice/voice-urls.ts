/** Parses addresses of voice servers: one text, separated by commas, in order of preference. */
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** Servers of one device, group or hub: more could not be tried while a device waits. */
const SERVERS_MAX = 4;
const URL_CHARACTERS_MAX = 1_000;

/** The addresses, none where none is given. */
export function parseVoiceUrls(text: string | null | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** As they were given; undefined for none. */
export function showVoiceUrls(urls: readonly string[]): string | undefined {
  return urls.length === 0 ? undefined : urls.join(', ');
}

/** What is wrong with the text, as the end of a sentence about it; undefined where nothing is. */
export function voiceUrlProblem(text: string | null | undefined): string | undefined {
  const urls = parseVoiceUrls(text);
  if (urls.length > SERVERS_MAX) return `must name at most ${SERVERS_MAX} voice servers`;
  const isFine = (url: string) => url.length <= URL_CHARACTERS_MAX && URL.canParse(url) && isVoiceUrl(new URL(url));
  return urls.every(isFine)
    ? undefined
    : 'must be URLs that begin with ws:// or wss://, with commas between them and without user name and password';
}

export function refuseVoiceUrl(text: string | null | undefined, path: readonly string[]): Refusal | undefined {
  const problem = voiceUrlProblem(text);
  return problem === undefined ? undefined : refuse('INVALID', path, `The voice URL ${problem}.`);
}

function isVoiceUrl({ hash, password, protocol, username }: URL): boolean {
  return (protocol === 'ws:' || protocol === 'wss:') && username === '' && password === '' && hash === '';
}
