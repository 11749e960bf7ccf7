/** Upgrades by the tool: the download, the checks, and every failure. [xiaozhi §4.6, §7.6] */
import { describe, expect, it } from 'vitest';
import type { LastingBehaviour } from '../behaviour/behaviour.js';
import { DeviceOnBench } from '../device-on-bench.suite.js';
import type { HttpResponse } from '../connection/http-messages.js';
import type { ProfileName } from '../profile.js';

const url = 'http://hub/fw/abc.bin';
type Limits = Pick<Extract<LastingBehaviour, { kind: 'upgradeFault' }>, 'board' | 'version' | 'chance'>;
const elfSha256 = 'cd'.repeat(32);

function imageOf(version: string, chip = 'esp32s3'): HttpResponse {
  const about = {
    version,
    chip,
    elfSha256,
    imageBytes: 4096,
    project: 'xiaozhi',
    idfVersion: 'v5.5.2',
    secureVersion: 0,
    minChipRevision: 0,
    maxChipRevision: undefined,
    flashMode: 'dio',
    signatureKeys: [],
    compiledAt: '',
  };
  return { status: 200, body: '', contentLength: 4096, image: { ok: true, image: about } };
}

const refused: HttpResponse = {
  status: 200,
  body: '',
  contentLength: 9,
  image: { ok: false, refusal: { code: 'NOT_AN_IMAGE', message: '' } },
};

/** A device that has asked for the image at 4 s and has got this, if anything, at 10 s. */
function upgraded(
  response: HttpResponse | undefined,
  behaviours: LastingBehaviour[] = [],
  profile: ProfileName = 'screen-camera',
) {
  const bench = new DeviceOnBench({ behaviours, profile });
  bench.call(1, 'self.upgrade_firmware', { url });
  bench.mcp({ jsonrpc: '2.0', id: 2, method: 'initialize' });
  bench.waitUntil(10_000);
  bench.answer(response);
  bench.waitUntil(60_000);
  return bench;
}

function versionOf(bench: DeviceOnBench): string | undefined {
  bench.do((device, now) => device.connected(now));
  bench.mcp({ jsonrpc: '2.0', id: 9, method: 'initialize' });
  return /"version":"([^"]*)"\}/.exec(bench.sent.at(-1) ?? '')?.[1];
}

describe('a firmware upgrade', () => {
  it('downloads the image after 4 s, restarts 1 s later without a reply, and returns with its version', () => {
    const bench = upgraded(imageOf('2.5.0'));
    expect(bench.requests).toMatchObject([
      { at: 4000, request: { method: 'GET', url, headers: {}, download: 'image' } },
    ]);
    expect(bench.sent).toEqual([]);
    expect(bench.turns).toEqual([
      { at: 11_000, effect: { kind: 'close', how: 'graceful' } },
      { at: 11_000, effect: { kind: 'reconnectAt', at: 17_000 } },
    ]);
    expect(versionOf(bench)).toBe('2.5.0');
    bench.call(10, 'self.get_system_info');
    expect(bench.lastText()).toContain(`"elf_sha256":"${elfSha256}"`);
  });

  it.each([
    ['no answer', undefined],
    ['a 404', { status: 404, body: '', contentLength: 9 }],
    ['no image', refused],
    ['an image for another chip', imageOf('2.5.0', 'esp32c3')],
    ['an unknown length', { ...imageOf('2.5.0'), contentLength: undefined }],
    ['an image that is too large', { ...imageOf('2.5.0'), contentLength: 5_000_000 }],
  ])('says true 3 s after %s, answers what has waited, and is stuck until it restarts', (_, response) => {
    const bench = upgraded(response);
    expect(bench.replyTimes).toEqual([
      [1, 13_000],
      [2, 13_000],
    ]);
    expect(bench.turns).toEqual([]);
    bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    expect(bench.sent).toHaveLength(2);
    bench.call(3, 'self.reboot');
    bench.waitUntil(70_000);
    expect(versionOf(bench)).toBe('2.4.2');
    bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    expect(bench.sent.at(-1)).toContain('"type":"hello"');
  });

  it('goes on over WebSocket, where it ends the conversation first', () => {
    const bench = new DeviceOnBench({ transport: 'websocket' });
    bench.receive({ type: 'hello', transport: 'websocket' });
    bench.call(1, 'self.upgrade_firmware', { url });
    expect(bench.turns[0]).toEqual({ at: 0, effect: { kind: 'close', how: 'abrupt' } });
    bench.waitUntil(5000);
    bench.do((device, now) => device.connected(now));
    bench.answer(imageOf('2.5.0'));
    bench.waitUntil(60_000);
    expect(bench.replyTimes).toEqual([]);
    expect(bench.turns.at(-2)).toEqual({ at: 6000, effect: { kind: 'close', how: 'graceful' } });
    expect(bench.turns.at(-1)).toEqual({ at: 6000, effect: { kind: 'reconnectAt', at: 12_000 } });
  });

  it('says true at once on firmware 2.0.1 to 2.0.5, which an upgrade makes a present one', () => {
    const bench = upgraded(imageOf('2.5.0'), [], 'interim');
    expect(bench.replyTimes).toEqual([[1, 0]]);
    expect(versionOf(bench)).toBe('2.5.0');
    bench.call(3, 'self.reboot');
    bench.waitUntil(120_000);
    expect(bench.replyTimes.map(([id]) => id)).not.toContain(3);
  });
});

describe('a fault of an upgrade', () => {
  it('breaks the download off', () => {
    const bench = upgraded(undefined, [{ kind: 'downloadFault', how: 'breaks' }]);
    expect(bench.requests[0]?.request.download).toBe('half');
    expect(bench.replyTimes[0]).toEqual([1, 13_000]);
  });

  it('hangs in the download until it is reset', () => {
    const bench = upgraded(imageOf('2.5.0'), [{ kind: 'downloadFault', how: 'hangs', times: 1 }]);
    bench.call(3, 'self.reboot');
    bench.waitUntil(600_000);
    expect([bench.sent, bench.turns]).toEqual([[], []]);
    bench.do((device, now) => device.behave({ kind: 'reboot' }, now));
    expect(bench.turns).toHaveLength(2);
    expect(versionOf(bench)).toBe('2.4.2');
  });

  it('makes the check of the written image fail', () => {
    const bench = upgraded(imageOf('2.5.0'), [{ kind: 'upgradeFault', how: 'corrupt' }]);
    expect(bench.replyTimes[0]).toEqual([1, 13_000]);
    expect(versionOf(bench)).toBe('2.4.2');
  });

  it('brings the former firmware back at once, a boot later', () => {
    const bench = upgraded(imageOf('2.5.0'), [{ kind: 'upgradeFault', how: 'rollBack' }]);
    expect(bench.turns.at(-1)).toEqual({ at: 11_000, effect: { kind: 'reconnectAt', at: 22_000 } });
    expect(versionOf(bench)).toBe('2.4.2');
  });

  it('brings it back after a while', () => {
    const bench = new DeviceOnBench({ behaviours: [{ kind: 'upgradeFault', how: 'rollBack', afterMs: 3000 }] });
    bench.call(1, 'self.upgrade_firmware', { url });
    bench.waitUntil(4000);
    bench.answer(imageOf('2.5.0'));
    bench.waitUntil(12_000);
    expect(versionOf(bench)).toBe('2.5.0');
    bench.waitUntil(60_000);
    expect(versionOf(bench)).toBe('2.4.2');
  });

  it('is the last thing that is seen of the device', () => {
    const bench = upgraded(imageOf('2.5.0'), [{ kind: 'upgradeFault', how: 'brick' }]);
    bench.waitUntil(600_000);
    expect(bench.turns.map(({ effect }) => effect)).toEqual([{ kind: 'close', how: 'graceful' }]);
  });

  it('can be limited to a board, a version and a share of the devices', () => {
    const fault = { kind: 'upgradeFault', how: 'rollBack' } as const;
    const isHit = (limits: Limits) => versionOf(upgraded(imageOf('2.5.0'), [{ ...fault, ...limits }])) === '2.4.2';
    expect(isHit({ board: 'lichuang-dev', version: '2.5.0', chance: 1 })).toBe(true);
    expect(isHit({ board: 'otto-robot' })).toBe(false);
    expect(isHit({ version: '2.5.1' })).toBe(false);
    expect(isHit({ chance: 0 })).toBe(false);
  });
});
