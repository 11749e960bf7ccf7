import { describe, expect, it, vi } from 'vitest';
import { ManualClock, type Clock } from '@flotilla/session';
import type { DeviceId } from '@flotilla/mcp';
import type { OtaContact } from '@flotilla/registry';
import { UrlSigner } from '../../device-urls/url-signer.js';
import { DeviceAddresses } from '../device-addresses.js';
import { OfferedFirmware, type OfferedUpdate, type UpdateOffer } from './update-offer.js';

const signer = new UrlSigner('a secret of this hub');
const addresses = new DeviceAddresses({
  publicUrl: undefined,
  publicMqtt: undefined,
  isTls: false,
  fallbackHost: 'hub.test',
  httpPort: () => 8080,
  mqttPort: () => 1883,
});
const reached = { localAddress: '192.168.7.2', host: undefined };
const contact = (firmwareVersion: string | undefined): OtaContact => ({
  deviceId: '02:00:00:00:00:01' as DeviceId,
  clientUuid: 'c',
  model: 'lamp',
  firmwareVersion,
  remoteAddress: undefined,
  at: 0,
});

function offering(offerTo: UpdateOffer['offerTo'], clock: Clock = new ManualClock()) {
  const warnings: string[] = [];
  const logger = {
    debug: () => undefined,
    warn: (_: object, message: string) => void warnings.push(message),
    error: () => undefined,
  };
  return { firmware: new OfferedFirmware({ offer: { offerTo }, signer, addresses, clock, logger }), warnings };
}

const update = (version: string) => async () => ({ version, downloadId: 'd-1', expiresAt: 60_000 });

describe('the update for a device', () => {
  it('is at the address at which the device reached the hub', async () => {
    const { firmware } = offering(update('2.5.0'));
    const answer = await firmware.answerFor(contact('2.4.2'), reached);
    expect(answer).toEqual({
      version: '2.5.0',
      url: expect.stringMatching(/^http:\/\/192\.168\.7\.2:8080\/t\/download\/d-1\./),
    });
    expect(signer.judge('download', new URL(answer?.url ?? '').pathname, 0)).toEqual({ kind: 'valid', id: 'd-1' });
  });

  it('is forced if the device would not consider it newer', async () => {
    expect(await offering(update('2.4.1')).firmware.answerFor(contact('2.4.2'), reached)).toMatchObject({
      version: '2.4.1',
      force: 1,
    });
    expect(await offering(update('2.4')).firmware.answerFor(contact('2.4.0'), reached)).toMatchObject({ force: 1 });
    expect(await offering(update('2.4.2.1')).firmware.answerFor(contact('2.4.2'), reached)).not.toHaveProperty('force');
  });

  it('is absent for a device that would abort because of its version, without a query', async () => {
    const offerTo = vi.fn(update('2.5.0'));
    for (const version of [undefined, 'v2.4.2', 'latest'])
      expect(await offering(offerTo).firmware.answerFor(contact(version), reached)).toBeUndefined();
    expect(offerTo).not.toHaveBeenCalled();
    expect(await offering(update('v2.5.0')).firmware.answerFor(contact('2.4.2'), reached)).toBeUndefined();
  });

  it('is absent while the query is not answered', async () => {
    const failing = offering(() => Promise.reject(new Error('PostgreSQL is away')));
    expect(await failing.firmware.answerFor(contact('2.4.2'), reached)).toBeUndefined();
    expect(failing.warnings).toHaveLength(1);
  });

  it('is nothing where the offer has not begun in time, and then it may not begin', async () => {
    const clock = new ManualClock();
    let begin: (() => boolean) | undefined;
    const silent = offering((_device, mayBegin) => new Promise(() => (begin = mayBegin)), clock);
    const answer = silent.firmware.answerFor(contact('2.4.2'), reached);
    clock.advance(1_000);
    expect(await answer).toBeUndefined();
    expect(begin?.()).toBe(false);
    expect(silent.warnings).toHaveLength(1);
  });

  it('reaches the device after a slow commit if the offer began in time', async () => {
    const clock = new ManualClock();
    let commit: ((update: OfferedUpdate) => void) | undefined;
    const { firmware, warnings } = offering((_device, begin) => {
      expect(begin()).toBe(true);
      return new Promise((resolve) => (commit = resolve));
    }, clock);
    const answer = firmware.answerFor(contact('2.4.2'), reached);
    clock.advance(1_000);
    await Promise.resolve();
    clock.advance(15_000);
    commit?.({ version: '2.5.0', downloadId: 'd-1', expiresAt: 60_000 });
    expect(await answer).toMatchObject({ version: '2.5.0' });
    expect(warnings).toEqual([]);
  });
});
