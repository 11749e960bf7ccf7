/** The kinds of values that settings have: how each is read from a text, and what is said where it cannot be. */
import { dialNetworkProblem } from '@flotilla/gateway';
import { z } from 'zod';

/** An empty variable is an unset one: compose files and shells make no difference either. */
export const unset = (value: unknown) => (value === '' ? undefined : value);

/** Where nobody but this machine comes by. */
export const loopback = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

export const port = (fallback: number) =>
  z.preprocess(
    unset,
    z
      .string()
      .default(String(fallback))
      .refine(isPortNumber, 'must be a port number from 0 (pick a free one) to 65535')
      .transform(Number),
  );

/** A port, or undefined where the listener is switched off. */
export const portOrOff = (fallback: number) =>
  z.preprocess(
    unset,
    z
      .string()
      .default(String(fallback))
      .refine(
        (text) => text === 'off' || isPortNumber(text),
        'must be a port number from 0 (pick a free one) to 65535, or off for no listener',
      )
      .transform((text) => (text === 'off' ? undefined : Number(text))),
  );

function isPortNumber(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

/** 10 years: beyond it a number is a mistake. */
const DAYS_MAX = 3_650;

export const days = (fallback: number) =>
  z.preprocess(
    unset,
    z
      .string()
      .default(String(fallback))
      .refine(
        (text) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= DAYS_MAX,
        `must be a number of days from 1 to ${DAYS_MAX}`,
      )
      .transform(Number),
  );

export const optionalUrl = (protocols: readonly string[]) =>
  z.preprocess(
    unset,
    z
      .string()
      .refine(
        (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
        `must be a URL that begins with ${protocols.join(' or ')}`,
      )
      .optional(),
  );

/** Origins of these protocols, with commas between; `example` is one. */
export const originsOf = (protocols: readonly string[], example: string) =>
  z.preprocess(
    unset,
    z
      .string()
      .default('')
      .transform((text, context) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== '')
          .map((part) => {
            if (URL.canParse(part) && protocols.includes(new URL(part).protocol)) return new URL(part).origin;
            context.addIssue({ code: 'custom', message: `must list origins such as ${example}, not "${part}"` });
            return part;
          }),
      ),
  );

export const originList = originsOf(['http:', 'https:'], 'https://files.example.net');

export const networkList = z.preprocess(
  unset,
  z
    .string()
    .default('')
    .transform((text, context) => {
      const networks = text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      for (const message of networks.map(dialNetworkProblem).filter((problem) => problem !== undefined))
        context.addIssue({ code: 'custom', message });
      return networks;
    }),
);

/** A text that a part of the hub judges: it says what is wrong with it, or nothing. */
export const judged = (problemOf: (text: string) => string | undefined) =>
  z.preprocess(
    unset,
    z
      .string()
      .superRefine((text, context) => {
        const message = problemOf(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional(),
  );

/** Whole seconds, which become milliseconds. */
export const seconds = (bounds: { readonly fallbackMs: number; readonly min: number; readonly max: number }) =>
  z.preprocess(
    unset,
    z
      .string()
      .default(String(bounds.fallbackMs / 1_000))
      .refine(
        (text) => /^\d{1,7}$/.test(text) && Number(text) >= bounds.min && Number(text) <= bounds.max,
        `must be a number of seconds from ${bounds.min} to ${bounds.max}`,
      )
      .transform((text) => Number(text) * 1_000),
  );

/** What goes into a header of HTTP as it is, such as a token; a file's line break at its end is the usual mistake. */
export const headerText = z.preprocess(
  unset,
  z
    .string()
    .regex(/^[\x20-\x7e]+$/, 'must be plain letters, digits and signs on one line')
    .optional(),
);

export const optionalText = z.preprocess(unset, z.string().optional());
