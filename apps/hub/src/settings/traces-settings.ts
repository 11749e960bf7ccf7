/** Settings of traces: where they go, and which share of calls is recorded. */
import { z } from 'zod';
import { optionalUrl, unset } from './setting-kinds.js';

const share = z.preprocess(
  unset,
  z
    .string()
    .default('0.01')
    .refine((text) => /^(0?\.\d{1,6}|[01](\.0*)?)$/.test(text), 'must be a share of calls from 0 to 1, such as 0.01')
    .transform(Number),
);

export const tracesSettings = {
  FLOTILLA_TRACES_URL: optionalUrl(['http:', 'https:']),
  FLOTILLA_TRACES_SAMPLE: share,
};

export interface TracesConfig {
  /** Receives OTLP over HTTP, such as `http://collector:4318/v1/traces`. */
  readonly url: string;
  /** Of the calls without a traced caller, 0 to 1. */
  readonly sample: number;
}

type Values = z.infer<z.ZodObject<typeof tracesSettings>>;

/** Undefined: nothing is recorded. */
export function tracesOf(values: Values): TracesConfig | undefined {
  const { FLOTILLA_TRACES_URL: url, FLOTILLA_TRACES_SAMPLE: sample } = values;
  return url === undefined ? undefined : { url, sample };
}
