/** Settings of proxies in front of the hub: which are trusted, and which header they write. */
import type { z } from 'zod';
import { checkedList, choice } from './setting-kinds.js';
import { proxyProblem, type ForwardingHeader } from '../http/trusted-proxies.js';

export const proxySettings = {
  FLOTILLA_TRUSTED_PROXIES: checkedList(proxyProblem),
  FLOTILLA_FORWARDING_HEADER: choice(['x-forwarded-for', 'forwarded'], 'x-forwarded-for'),
};

export interface ProxyConfig {
  /** Addresses and networks such as `10.0.0.0/8`. An empty list trusts no proxy. */
  readonly trusted: readonly string[];
  readonly header: ForwardingHeader;
}

export function proxiesOf(values: z.infer<z.ZodObject<typeof proxySettings>>): ProxyConfig {
  return { trusted: values.FLOTILLA_TRUSTED_PROXIES, header: values.FLOTILLA_FORWARDING_HEADER };
}
