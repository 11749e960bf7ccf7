/**
 * Checks that devices and browsers reach the hub at the addresses that they receive, and the
 * proxies in between. Sends requests only to addresses of the settings.
 */
import type { HubConfig } from '../settings/config.js';
import { localUrl } from '../settings/listener-settings.js';
import { checkMqtt } from './check-mqtt.js';
import type { DoctorContext } from './doctor-context.js';
import { ok, problem, reasonOf, warning, type Finding } from './finding.js';
import { askHttp, type HttpAnswer } from './http-ask.js';

const OTA = 'OTA address';
const PROXY = 'proxy';
const FORMER = 'former server';
const START_IT = 'Boards that have not moved get 502. Start it, or correct FLOTILLA_OTA_UPSTREAM.';

/** Without a device id, the hub answers with the time and the firmware, and issues no code. */
const isOfHub = (body: string) => body.includes('"server_time"') && body.includes('"firmware"');
/** It passes such a request on to a former server, but not one to `activate`. */
const isActivationOfHub = ({ body, status }: HttpAnswer) => status === 202 && body.includes('"success":false');

export async function checkReach(context: DoctorContext): Promise<readonly Finding[]> {
  const { config, isAnswering } = context;
  const address = config.publicUrl ?? localUrl(config);
  const given = config.publicUrl === undefined ? [noPublicUrl(config)] : [];
  // Without a gateway, this process does not answer there; a public address leads to one that does.
  const hasOta = config.publicUrl !== undefined || config.roles.includes('gateway');
  if (!isAnswering)
    return [
      ...given,
      ...proxySettings(config),
      ...(hasOta ? [ok(OTA, `${otaOf(address)} is checked while the hub runs`)] : []),
    ];
  return [
    ...given,
    ...(hasOta ? [await otaFinding(address, config)] : []),
    ...(await formerFindings(config)),
    ...(config.publicUrl === undefined ? [] : [await upgradeFinding(config.publicUrl)]),
    ...proxySettings(config),
    ...(await Promise.all(config.publicMqtt.map(({ endpoint }) => checkMqtt(endpoint)))),
  ];
}

const otaOf = (address: string) => `${address.replace(/\/$/, '')}/ota/`;

function noPublicUrl({ host }: HubConfig): Finding {
  const isLocal = /^(127\.|localhost$|::1$)/.test(host);
  return isLocal
    ? ok(OTA, 'FLOTILLA_PUBLIC_URL is not set, and the hub listens on loopback only')
    : warning(OTA, 'FLOTILLA_PUBLIC_URL is not set', 'Set it, so that devices receive one fixed address.');
}

async function otaFinding(address: string, { otaUpstream, publicUrl }: HubConfig): Promise<Finding> {
  const hasFormer = otaUpstream !== undefined;
  const url = `${otaOf(address)}${hasFormer ? 'activate' : ''}`;
  try {
    const answer = await askHttp(url, { checksCertificate: publicUrl !== undefined });
    return (hasFormer ? isActivationOfHub(answer) : isOfHub(answer.body))
      ? ok(OTA, `${url} reaches the hub from this machine`)
      : problem(OTA, `${url} answers ${answer.status}, and not as the hub`, 'Let the proxy pass /ota/ to the hub.');
  } catch (error) {
    return problem(
      OTA,
      `${url} cannot be reached: ${reasonOf(error)}`,
      'Check DNS, firewall and certificate. Some networks do not lead back to themselves: then test from outside.',
    );
  }
}

/** Boards that have not moved depend on it. Each kind of server has another form of answer. */
async function formerFindings({ otaUpstream }: HubConfig): Promise<readonly Finding[]> {
  if (otaUpstream === undefined) return [];
  const base = `${otaUpstream.replace(/\/$/, '')}/`;
  try {
    if (isActivationOfHub(await askHttp(`${base}activate`)))
      return [problem(FORMER, `${base} leads to a hub`, 'Name the former server by an address that stays its own.')];
    const { status } = await askHttp(base);
    return [
      status < 500 ? ok(FORMER, `${base} answers ${status}`) : problem(FORMER, `${base} answers ${status}`, START_IT),
    ];
  } catch (error) {
    return [problem(FORMER, `${base} cannot be reached: ${reasonOf(error)}`, START_IT)];
  }
}

/** Devices over WebSocket and subscriptions need the headers Upgrade and Connection. */
async function upgradeFinding(publicUrl: string): Promise<Finding> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'ZmxvdGlsbGEgZG9jdG9yIQ==',
    'sec-websocket-protocol': 'graphql-transport-ws',
  };
  try {
    const { status } = await askHttp(`${publicUrl.replace(/\/$/, '')}/graphql`, { headers });
    return status === 101
      ? ok(PROXY, 'WebSocket connections reach the hub')
      : problem(
          PROXY,
          `a WebSocket connection to ${publicUrl} gets the status ${status}`,
          'Let the proxy pass the headers Upgrade and Connection (docs/server.md, "Behind nginx").',
        );
  } catch (error) {
    return problem(PROXY, `a WebSocket connection fails: ${reasonOf(error)}`, 'Check the proxy and the certificate.');
  }
}

/** Without this setting, all clients behind a proxy have one address, and share its rate limits. */
function proxySettings({ proxies, publicUrl, tls, httpPort }: HubConfig): readonly Finding[] {
  if (proxies.trusted.length > 0)
    return [ok(PROXY, `the header ${proxies.header} counts from ${proxies.trusted.join(', ')}`)];
  if (publicUrl === undefined) return [];
  const { protocol, port } = new URL(publicUrl);
  const isHttps = protocol === 'https:';
  const isProxied = (isHttps && tls === undefined) || Number(port || (isHttps ? 443 : 80)) !== httpPort;
  return isProxied
    ? [
        warning(
          PROXY,
          'FLOTILLA_PUBLIC_URL leads to a proxy, and no proxy is trusted',
          'Set FLOTILLA_TRUSTED_PROXIES to its address, so that the hub sees the addresses of clients.',
        ),
      ]
    : [ok(PROXY, 'none, according to FLOTILLA_PUBLIC_URL')];
}
