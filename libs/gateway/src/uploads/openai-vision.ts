/** Asks a vision model over OpenAI's chat completions: one message with question and picture. */
import { VisionError } from './vision-answerer.js';
import type { Photo, VisionAnswerer } from './vision-answerer.js';

interface OpenAiVisionOptions {
  /** The host, its `/v1`, or the full URL of the completions. */
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string;
}

/** Bytes of the model's answer that are read. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** Requested tokens: a few sentences, as a device speaks them. */
const ANSWER_TOKENS_MAX = 500;
/** The question if the device sent none. */
const PLAIN_QUESTION = 'What is in this picture?';

export class OpenAiVision implements VisionAnswerer {
  readonly #endpoint: string;

  constructor(private readonly options: OpenAiVisionOptions) {
    this.#endpoint = completionsUrl(options.url);
  }

  async answer(photo: Photo, signal: AbortSignal): Promise<string> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#endpoint, this.#request(photo, signal));
      text = await readText(response);
    } catch (error) {
      if (error instanceof VisionError) throw error;
      throw new VisionError(
        signal.aborted ? 'The vision model did not answer in time.' : 'The vision model could not be asked.',
        {
          cause: error,
        },
      );
    }
    if (!response.ok) throw new VisionError(`The vision model answered with status ${response.status}.`);
    const answer = answerIn(text);
    if (answer === undefined) throw new VisionError('The answer of the vision model is not a chat completion.');
    return answer;
  }

  #request({ question, contentType, picture }: Photo, signal: AbortSignal): RequestInit {
    const { key, model } = this.options;
    const image = { type: 'image_url', image_url: { url: `data:${contentType};base64,${picture.toString('base64')}` } };
    const text = { type: 'text', text: question.trim() === '' ? PLAIN_QUESTION : question };
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({
        model,
        max_tokens: ANSWER_TOKENS_MAX,
        messages: [{ role: 'user', content: [text, image] }],
      }),
      // Sends the key only to the configured address.
      redirect: 'error',
      signal,
    };
  }
}

function completionsUrl(given: string): string {
  const url = new URL(given);
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith('/chat/completions')) url.pathname = `${path === '' ? '/v1' : path}/chat/completions`;
  return url.href;
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new VisionError('The answer of the vision model is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Untrusted data: every level may be missing. */
function answerIn(text: string): string | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  const content = ['choices', 0, 'message', 'content'].reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    answer,
  );
  return typeof content === 'string' && content.trim() !== '' ? content.trim() : undefined;
}
