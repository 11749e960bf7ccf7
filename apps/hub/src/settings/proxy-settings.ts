/** The settings of proxies before the hub: which are believed, and in which header they say whom they pass on. */
import { z } from 'zod';
import { unset } from './setting-kinds.js';
import { proxyProblem, type ForwardingHeader } from '../http/trusted-proxies.js';

export const proxySettings = {
  FLOTILLA_TRUSTED_PROXIES: z.preprocess(
    unset,
    z
      .string()
      .default('')
      .transform((text, context) => {
        const networks = text
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== '');
        for (const message of networks.map(proxyProblem).filter((problem) => problem !== undefined))
          context.addIssue({ code: 'custom', message });
        return networks;
      }),
  ),
  FLOTILLA_FORWARDING_HEADER: z.preprocess(
    unset,
    z
      .enum(['x-forwarded-for', 'forwarded'], 'must be x-forwarded-for or forwarded, the header that the proxies write')
      .default('x-forwarded-for'),
  ),
};

export interface ProxyConfig {
  /** Addresses and networks as `10.0.0.0/8`; none: nobody is believed. */
  readonly trusted: readonly string[];
  readonly header: ForwardingHeader;
}

export function proxiesOf(values: z.infer<z.ZodObject<typeof proxySettings>>): ProxyConfig {
  return { trusted: values.FLOTILLA_TRUSTED_PROXIES, header: values.FLOTILLA_FORWARDING_HEADER };
}
